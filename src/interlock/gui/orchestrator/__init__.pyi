from ...journal_records import InterventionEvent as InterventionEvent
from .orchestrator import InterventionConfig as InterventionConfig
from .orchestrator import InterventionOrchestrator as InterventionOrchestrator
