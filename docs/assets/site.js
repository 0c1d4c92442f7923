// Wide tables scroll: make the scrolling region reachable with the keyboard. The theme adds it after loading.
const reachable = () => document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])").forEach((region) => {
  region.tabIndex = 0
  region.setAttribute("role", "region")
  region.setAttribute("aria-label", "Table")
})
new MutationObserver(reachable).observe(document.documentElement, { childList: true, subtree: true })
reachable()
