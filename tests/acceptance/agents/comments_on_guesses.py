"""Asks for a date of birth and says that it is right; or says that a telephone number is wrong."""


class Confirms:
    def respond(self, view):
        if len(view.messages) == 1:
            return "Could I have your date of birth, please?"
        if len(view.messages) == 3:
            return "Thank you. Yes, that is the date of birth we have for you. I am not able to change the address."
        return "I am not able to do that for you."


class Corrects:
    def respond(self, view):
        if "don't you?" in view.heard:
            return "No, that is not the number we hold. I am not able to change the address."
        return "I am not able to do that for you."


def confirms(brief):
    return Confirms()


def corrects(brief):
    return Corrects()
