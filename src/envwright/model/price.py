"""What a call costs. An unknown price is unknown: None, not zero."""

from genai_prices import Usage, calc_price

from envwright.model.model import Model


def price_of(
    model: Model,
    *,
    input_tokens: int,
    output_tokens: int,
    cached_tokens: int = 0,
    cache_write_tokens: int = 0,
) -> float | None:
    """USD for these tokens (input includes the cache's); None when the price is not known."""
    if model.free:
        return 0.0
    if model.provider is None:
        return None
    usage = Usage(
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        cache_read_tokens=cached_tokens or None,
        cache_write_tokens=cache_write_tokens or None,
    )
    try:
        return float(calc_price(usage, model.model, provider_id=model.provider).total_price)
    except (LookupError, ValueError):
        # ValueError: a usage that makes no sense, such as more cached than input tokens.
        return None
