"""Shortest routes of a knight."""

from knight_routes.board import KnightRoutes

__all__ = ["KnightRoutes"]
