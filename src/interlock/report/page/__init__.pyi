from .scan_page import ScanPage as ScanPage
