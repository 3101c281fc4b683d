"""Google's models, through google-genai."""

from __future__ import annotations

import json
from typing import Any

import httpx2
from google import genai
from google.genai import errors, types
from pydantic import ValidationError

from iwkit.errors import AgentError
from iwkit_runtime.models.failures import refused
from iwkit_runtime.models.http import failure, http_client, trusted
from iwkit_runtime.models.settings import ModelSpec
from iwkit_runtime.models.wire import CallFailed, Message, Prompt, Reply, Tokens, count, dig, words


class Gemini:
    """`google:MODEL`."""

    def __init__(self, spec: ModelSpec, key: str) -> None:
        seconds = spec.settings.timeout + spec.settings.late
        self._spec = spec
        self._config("")  # what `extra` does not fit is said now, not in the first episode
        self._http = http_client(seconds)
        self._client = genai.Client(
            api_key=key,
            vertexai=False,
            http_options=types.HttpOptions(
                base_url=spec.base_url,
                timeout=int(seconds * 1000),
                httpx_async_client=self._http,
                client_args={"verify": trusted()},
                async_client_args={"verify": trusted(), "ssl": trusted()},
            ),
        )

    async def send(self, prompt: Prompt) -> Reply:
        """See `Connection`."""
        try:
            response = await self._client.aio.models.generate_content(
                model=self._spec.model,
                contents=[self._content(message) for message in prompt.messages],
                config=self._config(prompt.system, prompt.seed),
            )
            http = response.sdk_http_response
            body = json.loads((http.body if http else None) or "null")
        except errors.APIError as error:
            headers = getattr(error.response, "headers", {})
            raise refused(error.code, headers, error.details) from None
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:
            raise failure(error) from None
        return self._read(body)

    async def close(self) -> None:
        """See `Connection`."""
        await self._http.aclose()

    def _config(self, system: str, seed: int | None = None) -> types.GenerateContentConfig:
        given = self._spec.settings
        try:
            return types.GenerateContentConfig(
                system_instruction=system,
                temperature=given.temperature,
                top_p=given.top_p,
                seed=seed,
                max_output_tokens=given.max_output_tokens,
                should_return_http_response=True,
                automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
                **given.extra,
            )
        except (ValidationError, TypeError) as error:
            raise AgentError(f"{self._spec.name}: `extra` of the models file does not fit: {error}") from None

    def _content(self, message: Message) -> types.Content:
        pictures = [types.Part.from_bytes(data=image.data, mime_type=image.media) for image in message.images]
        return types.Content(
            role="model" if message.role == "assistant" else "user",
            parts=[*pictures, types.Part.from_text(text=message.text)],
        )

    def _read(self, body: Any) -> Reply:
        finish = words(body, "candidates", 0, "finishReason")
        blocked = words(body, "promptFeedback", "blockReason")
        if finish is None and blocked is None and dig(body, "candidates", 0, "content") is None:
            raise CallFailed("bad_body", "no candidate in it")
        parts = dig(body, "candidates", 0, "content", "parts")
        parts = parts if isinstance(parts, list) else []
        said = [words(part, "text") or "" for part in parts if dig(part, "thought") is not True]
        calls = [call for part in parts if (call := dig(part, "functionCall")) is not None]
        output = count(body, "usageMetadata", "candidatesTokenCount")
        thought = count(body, "usageMetadata", "thoughtsTokenCount")
        tokens = Tokens(
            input=count(body, "usageMetadata", "promptTokenCount"),
            output=(output or 0) + (thought or 0) if (output, thought) != (None, None) else None,
            cached=count(body, "usageMetadata", "cachedContentTokenCount"),
            reasoning=thought,
        )
        return Reply(
            "".join(said) or (json.dumps(calls, ensure_ascii=False) if calls else ""),
            tokens,
            words(body, "modelVersion"),
            finish or (blocked and f"prompt blocked: {blocked}"),
            words(body, "responseId"),
        )
