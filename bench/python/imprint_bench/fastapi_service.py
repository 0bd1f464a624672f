"""fastapi_service.py DATABASE: lists of sessions as a usual FastAPI service gives them, from Imprint's own rows."""

import json
import socket
import sqlite3
import sys

import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel, ConfigDict


class Session(BaseModel):
    """One session of a list; what else a row holds goes out too."""

    model_config = ConfigDict(extra="allow")
    session_id: str


app = FastAPI()
database = sqlite3.connect(sys.argv[1], check_same_thread=False)


def sessions(limit: int = 20) -> list[Session]:
    """The newest first."""
    rows = database.execute("select summary from sessions order by seq desc limit ?", (limit,))
    return [Session(**json.loads(summary)) for (summary,) in rows]


app.get("/sessions")(sessions)
listener = socket.create_server(("127.0.0.1", 0))
print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
uvicorn.Server(uvicorn.Config(app, access_log=False, log_level="error")).run(sockets=[listener])
