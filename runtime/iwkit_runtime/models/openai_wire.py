"""OpenAI's two interfaces, through its own library: chat completions, which many others speak too, and Responses."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import openai

from iwkit_runtime.models.failures import refused
from iwkit_runtime.models.http import failure, http_client
from iwkit_runtime.models.settings import ModelSpec
from iwkit_runtime.models.wire import CallFailed, Image, Message, Prompt, Reply, Tokens, count, dig, words


class _OpenAI:
    """What both interfaces share: the client, and how its errors are read."""

    def __init__(self, spec: ModelSpec, key: str) -> None:
        self._spec = spec
        seconds = spec.settings.timeout + spec.settings.late
        self._http = http_client(seconds)
        self._client = openai.AsyncOpenAI(
            api_key=key, base_url=spec.base_url, max_retries=0, timeout=seconds, http_client=self._http
        )

    async def send(self, prompt: Prompt) -> Reply:
        """See `Connection`."""
        try:
            raw = await self._request(prompt)
            body, headers = json.loads(raw.content), raw.headers
        except openai.APIStatusError as error:
            raise refused(error.status_code, error.response.headers, {"error": error.body}) from None
        except (openai.OpenAIError, OSError, ValueError) as error:
            raise failure(error) from None
        reply = self._read(body)
        request_id = headers.get("x-request-id") or words(body, "id")
        return replace(reply, model=words(body, "model"), request_id=request_id)

    async def close(self) -> None:
        """See `Connection`."""
        await self._client.close()

    async def _request(self, prompt: Prompt) -> Any:
        raise NotImplementedError

    def _read(self, body: Any) -> Reply:
        raise NotImplementedError

    def _url(self, image: Image) -> str:
        return f"data:{image.media};base64,{base64.b64encode(image.data).decode()}"

    def _given(self, **names: str) -> dict[str, Any]:
        """The parameters that are set, under the names that this interface has for them."""
        settings = self._spec.settings
        values = {name: getattr(settings, field) for name, field in names.items()}
        return {name: value for name, value in values.items() if value is not None}

    @property
    def _detail(self) -> dict[str, str]:
        detail = self._spec.settings.images.detail
        return {} if detail is None else {"detail": detail}


class ChatCompletions(_OpenAI):
    """`openai:MODEL`."""

    async def _request(self, prompt: Prompt) -> Any:
        messages = [{"role": "system", "content": prompt.system}, *map(self._message, prompt.messages)]
        given = self._given(temperature="temperature", top_p="top_p", max_completion_tokens="max_output_tokens")
        given |= {} if prompt.seed is None else {"seed": prompt.seed}
        return await self._client.chat.completions.with_raw_response.create(
            model=self._spec.model,
            messages=messages,  # type: ignore[arg-type]  # the form is right, the types are a union of forty
            extra_body=self._spec.settings.extra or None,
            **given,
        )

    def _message(self, message: Message) -> dict[str, Any]:
        if not message.images:
            return {"role": message.role, "content": message.text}
        pictures = [{"type": "image_url", "image_url": {"url": self._url(i), **self._detail}} for i in message.images]
        return {"role": message.role, "content": [*pictures, {"type": "text", "text": message.text}]}

    def _read(self, body: Any) -> Reply:
        message = dig(body, "choices", 0, "message")
        if not isinstance(message, dict):
            raise CallFailed("bad_body", "no message in it" + _error_in(body))
        tokens = Tokens(
            input=count(body, "usage", "prompt_tokens"),
            output=count(body, "usage", "completion_tokens"),
            cached=count(body, "usage", "prompt_tokens_details", "cached_tokens"),
            reasoning=count(body, "usage", "completion_tokens_details", "reasoning_tokens"),
        )
        text = _text(message.get("content")) or words(message, "refusal") or _calls(message.get("tool_calls"))
        return Reply(text, tokens, finish=words(body, "choices", 0, "finish_reason"))


class Responses(_OpenAI):
    """`openai-responses:MODEL`. Nothing is stored at the provider: every request holds the whole conversation."""

    async def _request(self, prompt: Prompt) -> Any:
        given = self._given(temperature="temperature", top_p="top_p", max_output_tokens="max_output_tokens")
        return await self._client.responses.with_raw_response.create(
            model=self._spec.model,
            instructions=prompt.system,
            input=[self._message(m) for m in prompt.messages],  # type: ignore[misc]  # as above
            store=False,
            extra_body=self._spec.settings.extra or None,
            **given,
        )

    def _message(self, message: Message) -> dict[str, Any]:
        if message.role == "assistant":
            return {"role": "assistant", "content": message.text}
        pictures = [{"type": "input_image", "image_url": self._url(i), **(self._detail or {"detail": "auto"})}
                    for i in message.images]  # fmt: skip
        return {"role": "user", "content": [*pictures, {"type": "input_text", "text": message.text}]}

    def _read(self, body: Any) -> Reply:
        if dig(body, "status") in ("failed", "cancelled"):
            raise CallFailed("server_error", "the response failed" + _error_in(body))
        output = dig(body, "output")
        if not isinstance(output, list):
            raise CallFailed("bad_body", "no output in it" + _error_in(body))
        said = [_text(item.get("content")) for item in output if dig(item, "type") == "message"]
        calls = [item for item in output if words(item, "type") and str(item["type"]).endswith("_call")]
        tokens = Tokens(
            input=count(body, "usage", "input_tokens"),
            output=count(body, "usage", "output_tokens"),
            cached=count(body, "usage", "input_tokens_details", "cached_tokens"),
            reasoning=count(body, "usage", "output_tokens_details", "reasoning_tokens"),
        )
        finish = words(body, "incomplete_details", "reason") or words(body, "status")
        return Reply("".join(said) or _calls(calls), tokens, finish=finish)


def _text(content: Any) -> str:
    """The text of a message's content, which is one text or a list of parts.

    Raises:
        CallFailed: it is neither.
    """
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        raise CallFailed("bad_body", f"the content is a {type(content).__name__}, not text")
    return "".join(words(part, "text") or words(part, "refusal") or "" for part in content)


def _calls(calls: Any) -> str:
    """Calls of tools that nobody offered, as text: they are the model's answer, and are read as any other."""
    return json.dumps(calls, ensure_ascii=False) if calls else ""


def _error_in(body: Any) -> str:
    error = words(body, "error", "message") or words(body, "error")
    return f": {error[:300]}" if error else ""


INTERFACES: Mapping[str, type[ChatCompletions | Responses]] = {
    "openai": ChatCompletions,
    "openai-responses": Responses,
}
"""Interface by provider."""
