"""The other end of the interoperation test: Python's CloudEvents SDK over nats-py.

    peer.py send URL SUBJECT     publishes EVENTS in binary mode, then in structured mode
    peer.py receive URL SUBJECT  says "ready", and fails unless it gets EVENTS as `send` would send them

The SDK has no binding for NATS. That for HTTP has the same names of headers and the same encoding; it writes the media type
of the data into a bare `content-type`.
"""

import asyncio
import sys
from datetime import datetime, timedelta, timezone

import nats
from cloudevents.core.bindings import http
from cloudevents.core.v1.event import CloudEvent

# The SDK gives the time of day to an event that has none.
TIME = datetime(2026, 1, 31, 12, 34, 56, tzinfo=timezone.utc)


def plain(identifier, data=None, source="urn:x", **more):
    return CloudEvent(
        {"id": identifier, "source": source, "type": "t", "specversion": "1.0", "time": TIME, **more}, data
    )


# `interop.rs` has the same.
EVENTS = [
    CloudEvent(
        {
            "id": "every attribute",
            "source": "https://example.com/a?b=c%20d#e",
            "type": "com.example.invoice raised",
            "specversion": "1.0",
            "subject": "caf\u00e9 \"100%\" \U0001f68b",
            "time": datetime(2026, 1, 31, 12, 34, 56, 500000, timezone(timedelta(hours=5, minutes=30))),
            "dataschema": "https://example.com/schemas/invoice.json#v1",
            "datacontenttype": "application/json; charset=utf-8",
            "comexampleext": "one %20 two",
            "priority": 3,
        },
        {"total": "12.50", "lines": [1, 2.5, None]},
    ),
    plain("text", "one\r\n\ttwo \u20ac", datacontenttype="text/plain"),
    plain("xml", "<much wow=\"xml\"/>", datacontenttype="application/xml"),
    plain("bytes", bytes(range(256)), datacontenttype="application/octet-stream"),
    plain("no data", source="/relative"),
]


def meant(event, binary):
    """What is to arrive: a header does not say that a number was one."""
    attributes = event.get_attributes()
    if binary:
        attributes = {name: str(value) if isinstance(value, int) else value for name, value in attributes.items()}
    return attributes, event.get_data()


async def send(client, subject):
    for write in (http.to_binary_event, http.to_structured_event):
        for event in EVENTS:
            message = write(event)
            await client.publish(subject, message.body, headers=message.headers)
    await client.flush()


async def receive(client, subject):
    subscription = await client.subscribe(subject)
    await client.flush()
    print("ready", flush=True)
    for binary in (True, False):
        for event in EVENTS:
            message = await subscription.next_msg(timeout=20)
            headers = message.headers or {}
            if binary != any(name.startswith("ce-") for name in headers):
                raise SystemExit(f"{event.get_id()} came in the other mode, with {headers}")
            got = http.from_http_event(http.HTTPMessage(headers, message.data))
            got = (got.get_attributes(), got.get_data())
            if got != meant(event, binary):
                raise SystemExit(f"{got}\narrived in place of\n{meant(event, binary)}")


async def main():
    _, what, url, subject = sys.argv
    client = await nats.connect(url, connect_timeout=20, allow_reconnect=False)
    try:
        await {"send": send, "receive": receive}[what](client, subject)
    finally:
        await client.close()


asyncio.run(main())
