"""Learning by asking: which of several rules that fit the data equally well is meant, told by a person."""

from .question import Answered, Question
from .session import Asked, Session, ask

__all__ = ["Answered", "Asked", "Question", "Session", "ask"]
