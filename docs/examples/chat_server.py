"""An agent behind the chat-completions protocol: python chat_server.py PORT."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from desk import next_step


def completion(messages):
    """Return the choice that answers a conversation."""
    latest = max(place for place, message in enumerate(messages) if message["role"] == "user")
    names = {call["id"]: call["function"]["name"] for message in messages for call in message.get("tool_calls") or []}
    used = {names[m["tool_call_id"]]: m["content"] for m in messages[latest:] if m["role"] == "tool"}
    step = next_step(messages[latest]["content"], used)
    if "say" in step:
        return {"finish_reason": "stop", "message": {"role": "assistant", "content": step["say"]}}
    function = {"name": step["call"], "arguments": json.dumps(step["arguments"])}
    call = {"id": f"call_{len(messages)}", "type": "function", "function": function}
    return {"finish_reason": "tool_calls", "message": {"role": "assistant", "content": None, "tool_calls": [call]}}


class Handler(BaseHTTPRequestHandler):
    """Answers POST /v1/chat/completions."""

    def do_POST(self):
        """Answer one request; the whole conversation is in it."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        choice = {"index": 0, **completion(asked["messages"])}
        body = json.dumps({"object": "chat.completion", "model": asked["model"], "choices": [choice]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
