"""Orchestration: checks, recoveries and what came of them."""

from .event import InterventionEvent
from .orchestrator import InterventionConfig, InterventionOrchestrator

__all__ = ["InterventionConfig", "InterventionEvent", "InterventionOrchestrator"]
