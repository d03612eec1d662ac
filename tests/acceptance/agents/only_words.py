"""Agents that call nothing: one refuses in plain words, one claims that it has done everything."""


class Agent:
    def __init__(self, words):
        self.words = words

    def respond(self, view):
        return self.words


def refuses(brief):
    return Agent("I am not able to do that for you.")


def claims(brief):
    return Agent("That is done for you, the payment has been sent.")
