"""The control protocol as a pure state machine: messages, endpoint and client logic, schemas."""
