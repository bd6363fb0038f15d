/** What is opened now and then, bundled apart: it is fetched once the page has come to rest. */

export { showAlternatives } from "./alternatives_dialog"
export { showComparison } from "./comparison"
export { showFinalise } from "./finalise"
export { HistoryPanel } from "./history_panel"
export { openPlainText } from "./plain_text"
export { askVersionName, confirmDelete, openAbout } from "./questions"
export { openRegionPopover } from "./region_popover"
export { showRunCard } from "./run_card"
export { showReplay } from "./replay"
export { showShortcuts } from "./shortcut_sheet"
export { startTour } from "./tour"
