"""What the server takes from a websocket, asked over real ones: before admission little, and from nobody all."""

from __future__ import annotations

import asyncio
import time

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from crane_core.identity.visitor import Role
from crane_core.ui.stream import (
    STRANGER_BURST,
    STRANGER_BYTES,
    STRANGER_PER_S,
    most_strangers,
)
from tests.patience import PATIENCE_S
from tests.ui.lab import PASSWORD, Lab
from tests.ui.visits import Visitor, asked, drawn, in_own_loop, run

KINDS = {field.name for field in BackMsg.DESCRIPTOR.fields} - {
    "rerun_script",
    "app_heartbeat",
}


def message(kind: str) -> BackMsg:
    """One message of each kind that Streamlit knows."""
    if kind == "file_urls_request":
        made = BackMsg()
        made.file_urls_request.request_id = "asked"
        made.file_urls_request.file_names.append("a.zip")
        return made
    if kind == "backend_operation_request":
        made = BackMsg()
        made.backend_operation_request.request_id = "asked"
        made.backend_operation_request.install_skills.SetInParent()
        return made
    made = BackMsg()
    setattr(made, kind, True)
    return made


@pytest.fixture
def admin(lab: Lab) -> Visitor:
    return lab.of(Role.ADMIN)


async def settled(visitor: Visitor, page: str) -> ClientConnection:
    """A connection whose page is drawn, and that has nothing more to say."""
    socket = await visitor._joined()
    await drawn(socket, page, "")
    await answers(socket)
    return socket


async def answers(socket: ClientConnection) -> list[str]:
    """The kinds of what the server sends after a heartbeat's answer, which comes behind everything asked before."""
    await socket.send(BackMsg(app_heartbeat=True).SerializeToString())
    kinds: list[str] = []
    async with asyncio.timeout(PATIENCE_S):
        while "heartbeat_ack" not in kinds:
            kinds.append(
                str(
                    ForwardMsg.FromString(
                        await socket.recv(decode=False)
                    ).WhichOneof("type")
                )
            )
    return kinds


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_stranger_sends_reruns_and_heartbeats_alone(
    lab: Lab, kind: str
) -> None:
    async def asking() -> list[str]:
        async with await settled(Visitor(lab.address), "results") as socket:
            await socket.send(message(kind).SerializeToString())
            return await answers(socket)

    assert in_own_loop(asking()) == ["heartbeat_ack"]
    assert f"127.0.0.1 sent {kind}, which is not taken from it" in lab.log()


def test_nobody_empties_the_caches(lab: Lab, admin: Visitor) -> None:
    kinds = (
        "clear_cache",
        "set_run_on_save",
        "load_git_info",
        "debug_shutdown_runtime",
    )
    for visitor in (Visitor(lab.address), admin):
        before = lab.log()

        async def clearing(visitor: Visitor = visitor) -> None:
            async with await settled(visitor, "results") as socket:
                for kind in kinds:
                    await socket.send(message(kind).SerializeToString())
                assert await answers(socket) == ["heartbeat_ack"]

        in_own_loop(clearing())
        added = lab.log().removeprefix(before)
        assert [
            added.count(f"127.0.0.1 sent {kind}, which is not taken from it")
            for kind in kinds
        ] == [1, 1, 1, 1]


def test_who_is_admitted_may_ask_for_uploads_and_downloads_and_no_other_operation(
    admin: Visitor,
) -> None:
    async def asking() -> list[str]:
        async with await settled(admin, "data") as socket:
            await socket.send(message("file_urls_request").SerializeToString())
            await socket.send(
                message("backend_operation_request").SerializeToString()
            )
            download = BackMsg()
            download.backend_operation_request.request_id = "asked"
            download.backend_operation_request.deferred_file.SetInParent()
            await socket.send(download.SerializeToString())
            return await answers(socket)

    assert [
        kind for kind in in_own_loop(asking()) if kind != "heartbeat_ack"
    ] in (
        ["file_urls_response", "backend_operation_response"],
        ["file_urls_response"],
    )


def test_the_shared_password_admits_a_connection(locked_app: str) -> None:
    """Before it the server takes little; a page that has it may send what pages send.

    `clear_cache` would also forget what the session holds, which here is that it may see the page.
    """

    async def asking() -> tuple[list[list[str]], bool]:
        found = []
        async with await settled(Visitor(locked_app), "data") as socket:
            for password in ("guess", PASSWORD):
                ids = (await drawn(socket, "data", "")).widgets
                typed = [
                    WidgetState(id=ids["Password"], string_value=password),
                    WidgetState(id=ids["Open"], trigger_value=True),
                ]
                await run(
                    socket,
                    ClientState(
                        page_name="data",
                        widget_states=WidgetStates(widgets=typed),
                    ),
                )
                await answers(socket)
                await socket.send(
                    message("file_urls_request").SerializeToString()
                )
                found.append(await answers(socket))
            await socket.send(message("clear_cache").SerializeToString())
            seen = await drawn(socket, "data", "")
        return found, seen.shows("Inventory") and "Password" not in seen.widgets

    kinds, is_still_in = in_own_loop(asking())
    assert kinds == [["heartbeat_ack"], ["file_urls_response", "heartbeat_ack"]]
    assert is_still_in


def test_an_ended_session_is_a_strangers(lab: Lab) -> None:
    lea = lab.of(Role.LEAD)

    async def asking() -> list[str]:
        async with await settled(lea, "results") as socket:
            await asyncio.to_thread(
                asked, lab.address, "/logout", headers={"Cookie": lea.cookie}
            )
            await socket.send(message("file_urls_request").SerializeToString())
            return await answers(socket)

    assert in_own_loop(asking()) == ["heartbeat_ack"]


def test_a_strangers_message_is_small_and_an_admitted_ones_may_be_large(
    lab: Lab, admin: Visitor
) -> None:
    query = "x=" + "y" * (2 * STRANGER_BYTES)

    async def sending(visitor: Visitor) -> str:
        async with await settled(visitor, "data") as socket:
            try:
                return (
                    "drawn"
                    if (await drawn(socket, "data", query)).elements
                    else "empty"
                )
            except ConnectionClosed:
                return "closed"

    assert in_own_loop(sending(Visitor(lab.address))) == "closed"
    assert in_own_loop(sending(admin)) == "drawn"


@pytest.mark.parametrize(
    "state",
    [
        '{"sent": ' + "[" * 5_000 + "]" * 5_000 + "}",
        '{"sent": ' + "[" * 60 + "]" * 60 + "}",
        "{",
    ],
)
def test_a_state_that_is_nested_too_deeply_is_one_line_in_the_log(
    lab: Lab, admin: Visitor, state: str
) -> None:
    before = lab.log()

    async def asking() -> list[str]:
        async with await settled(admin, "data") as socket:
            deep = BackMsg()
            deep.rerun_script.page_name = "data"
            deep.rerun_script.widget_states.widgets.append(
                WidgetState(id="desk", json_value=state)
            )
            await socket.send(deep.SerializeToString())
            return await answers(socket)

    assert in_own_loop(asking()) == ["heartbeat_ack"]
    added = lab.log().removeprefix(before)
    assert (
        added.count(
            "127.0.0.1 sent a widget's state that is nested too deeply or not JSON"
        )
        == 1
    )
    assert "RecursionError" not in added


@pytest.mark.parametrize(
    ("frame", "code"),
    [(b"\xff\xff\xff", 1002), ("a text", 1003)],
    ids=["garbage", "text"],
)
def test_what_is_no_message_ends_the_connection(
    lab: Lab, frame: bytes | str, code: int
) -> None:
    async def sending() -> int:
        async with await Visitor(lab.address)._joined() as socket:
            await socket.send(frame)
            with pytest.raises(ConnectionClosed) as closed:
                await socket.recv()
            assert closed.value.rcvd is not None
            return closed.value.rcvd.code

    assert in_own_loop(sending()) == code


def test_a_strangers_messages_wait(lab: Lab) -> None:
    n_more = 3

    async def sending() -> float:
        async with await Visitor(lab.address)._joined() as socket:
            start = time.monotonic()
            for _ in range(STRANGER_BURST + n_more):
                await socket.send(
                    BackMsg(app_heartbeat=True).SerializeToString()
                )
            for _ in range(STRANGER_BURST + n_more):
                await socket.recv()
            return time.monotonic() - start

    assert in_own_loop(sending()) > (n_more - 1) / STRANGER_PER_S


def test_strangers_cannot_take_all_connections(
    lab: Lab, admin: Visitor
) -> None:
    async def crowding() -> tuple[int, bool]:
        async with await admin._joined() as kept:
            await drawn(kept, "data", "")
            crowd = [
                await Visitor(lab.address)._joined()
                for _ in range(most_strangers() + 5)
            ]
            async with asyncio.timeout(PATIENCE_S):
                while (
                    n_closed := sum(
                        socket.close_code is not None for socket in crowd
                    )
                ) < 5:
                    await asyncio.sleep(0.02)
            is_kept = "heartbeat_ack" in await answers(kept)
            n_closed = sum(socket.close_code is not None for socket in crowd)
            for socket in crowd:
                await socket.close()
            return n_closed, is_kept

    n_closed, is_kept = in_own_loop(crowding())
    assert 5 <= n_closed <= 10
    assert is_kept
