"""An agent that runs its own loop: python loop_server.py PORT."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.request import ProxyHandler, Request, build_opener

from desk import next_step

DIRECTLY = build_opener(ProxyHandler({}))


def call(tools, name, arguments):
    """Call a tool of the bank; `tools["url"]` alone, asked with GET, lists them."""
    headers = {"Authorization": f"Bearer {tools['token']}"}
    with DIRECTLY.open(Request(f"{tools['url']}/{name}", json.dumps(arguments).encode(), headers)) as answer:
        return json.load(answer)


def answer_to(message):
    """Work on one message of the caller until there is something to say."""
    used = {}
    step = next_step(message["message"], used)
    while "say" not in step:
        outcome = call(message["tools"], step["call"], step["arguments"])
        used[step["call"]] = json.dumps(outcome["result"])
        step = next_step(message["message"], used)
    return {"text": step["say"], "end": None}


class Handler(BaseHTTPRequestHandler):
    """Answers POST with any path."""

    def do_POST(self):
        """Answer one message; others may come at the same time, from conversations with other sessions."""
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = json.dumps(answer_to(message)).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
