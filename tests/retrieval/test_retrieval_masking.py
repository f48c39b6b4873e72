"""What is sent to an embeddings service holds no secret."""

from __future__ import annotations

from assistant.retrieval.endpoint import masked


def test_secrets_and_addresses_of_a_query_are_masked_before_it_is_sent() -> None:
    sent = masked("password=hunter2-long mail a@b.example.com host 10.24.7.19 Xid 79")
    assert "hunter2-long" not in sent
    assert "example.com" not in sent
    assert "10.24.7.19" not in sent
    assert "Xid 79" in sent


def test_the_same_text_is_always_sent_in_the_same_words() -> None:
    assert masked("connect to 10.24.7.19 failed") == masked("connect to 10.24.7.19 failed")
