"""Orchestration: checks, recoveries and what came of them."""

from ...records.gui import InterventionEvent
from .orchestrator import InterventionConfig, InterventionOrchestrator

__all__ = ["InterventionConfig", "InterventionEvent", "InterventionOrchestrator"]
