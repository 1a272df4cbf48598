"""The style sheet of the page."""

PRIMARY_COLOR = "#2b6cb0"
"""Colour of buttons, dark enough for white text on it and for its own text on white."""

STYLE = """
@layer base {
  *, ::before, ::after { box-sizing: border-box; margin: 0; padding: 0; border: 0 solid; }
  html { line-height: 1.5; }
  img, svg, canvas { display: block; vertical-align: middle; }
  button, input, select, textarea { font: inherit; color: inherit; background: transparent; }
}
.nicegui-content { padding: 0; gap: 0; }
.w-full { width: 100%; }
.items-center { align-items: center; }
.items-baseline { align-items: baseline; }
.justify-between { justify-content: space-between; }
.justify-end { justify-content: flex-end; }
.text-right { text-align: right; }
.gap-0 { gap: 0; }
.gap-1 { gap: 4px; }
.gap-2 { gap: 8px; }
.gap-x-6 { column-gap: 24px; }
.gap-y-1 { row-gap: 4px; }
.poise-viewport { width: 100%; height: calc(100vh - 88px); }
.poise-view { position: absolute; touch-action: none; outline: none; user-select: none; }
.poise-view-framed { box-shadow: inset 0 0 0 1px rgba(128, 128, 128, 0.35); }
.poise-view > span {
  position: absolute; left: 10px; top: 6px; font-size: 12px; opacity: 0.65; pointer-events: none; user-select: none;
}
.poise-status { height: 36px; padding: 0 14px; gap: 10px; border-bottom: 1px solid rgba(128, 128, 128, 0.25); }
.poise-sentence {
  display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden; line-height: 16px;
}
.poise-readiness { flex: none; white-space: nowrap; }
.poise-readiness .q-linear-progress { width: 150px; }
.poise-light { flex: none; width: 14px; height: 14px; border-radius: 50%; background: #9e9e9e; }
.poise-light[data-light=green] { background: #2e9e4f; }
.poise-light[data-light=orange] { background: #f28c1e; }
.poise-light[data-light=red] { background: #d9263e; }
.poise-quiet { color: #5f6670; }
.poise-good { color: #1b7a36; }
.poise-bad { color: #c5221f; }
.poise-level { color: #a34b00; }
.poise-passive { color: #1f66ad; }
.body--dark .poise-quiet { color: #a9b1bb; }
.body--dark .poise-good { color: #74cf8d; }
.body--dark .poise-bad { color: #ff9a90; }
.body--dark .poise-level { color: #f6ac62; }
.body--dark .poise-passive { color: #86bbf0; }
.body--dark .q-btn.text-primary { color: #86bbf0 !important; }
.q-tooltip { background: #42474f; font-size: 12px; }
.q-field__label { color: #5f6670; }
.body--dark .q-field__label, .q-header .q-field__label { color: #b9c0c9; }
.poise-status:focus-visible, .poise-view:focus-visible { outline: 2px solid #2b6cb0; outline-offset: -2px; }
.poise-value { width: 76px; text-align: right; font-size: 12px; border-radius: 4px; padding: 0 3px; }
.poise-value:hover, .poise-value:focus { background: rgba(128, 128, 128, 0.18); }
.poise-badge { flex: none; padding: 1px 8px; border-radius: 10px; font-size: 12px; line-height: 18px; color: white; }
.poise-badge { background: #b3261e; white-space: nowrap; }
.poise-badge[data-good=true] { background: #1f7a3d; }
.poise-offline { display: none; }
body[data-connected=false] .poise-offline { display: inline; }
body[data-connected=false] .poise-light { background: #9e9e9e; }
body[data-connected=false] .poise-viewport { filter: grayscale(1); }
.poise-task { padding: 4px 6px; border: 1px solid rgba(128, 128, 128, 0.25); border-radius: 6px; cursor: grab; }
.poise-panel .q-scrollarea__content { width: 100% !important; max-width: 100%; padding: 0 14px 12px 12px !important; }
.poise-field { width: 56px; }
.poise-field .q-field__control, .poise-field .q-field__native { height: 34px; min-height: 34px; font-size: 13px; }
.poise-drop { width: 100%; text-align: center; padding: 6px; border: 1px dashed #8888; border-radius: 6px; }
.poise-code { font-family: ui-monospace, monospace; font-size: 13px; }
.poise-slider .q-slider__thumb, .poise-slider .q-slider__selection { transition: none !important; }
.poise-number { font-variant-numeric: tabular-nums; }
.poise-tabs .q-tab { padding: 0 3px; min-width: 0; min-height: 36px; }
.poise-tabs .q-tab__label { font-size: 13px; letter-spacing: -0.1px; }
.poise-panels, .poise-panels .q-tab-panel { padding: 0 !important; }
.poise-menu { max-height: 80vh !important; }
.poise-joints .q-scrollarea__content { width: 100% !important; max-width: 100%; padding: 4px 16px !important; }
.poise-side { height: calc(100vh - 92px); }
.poise-side .q-scrollarea__content { width: 100% !important; max-width: 100%; padding: 4px 14px 14px 12px !important; }
.poise-side-short { height: calc(100vh - 300px); }
.poise-side .poise-field { flex: 1 1 0; width: auto; min-width: 0; }
.poise-chips .q-chip { margin: 1px; font-size: 11px; }
.q-notifications__list--top { top: 92px; }
.q-tooltip { max-width: 320px; }
.poise-parts { width: 520px; max-width: 94vw; max-height: 86vh; overflow: auto; padding: 10px 14px !important; }
.poise-postures { max-height: 46vh; overflow-y: auto; }
.poise-thumbnail { width: 84px; height: 105px; border-radius: 6px; }
.poise-part { font-size: 12px; min-height: 22px !important; padding-top: 0; padding-bottom: 0; white-space: nowrap; }
.poise-table { width: 100%; font-size: 12px; border-collapse: collapse; }
.poise-table th { text-align: left; font-weight: 600; }
.poise-table td, .poise-table th { padding: 2px 6px 2px 0; border-bottom: 1px solid rgba(128, 128, 128, 0.2); }
.poise-tip {
  display: none; position: fixed; z-index: 7000; padding: 3px 8px; border-radius: 4px; font-size: 12px;
  background: #42474f; color: white; pointer-events: none;
}
.poise-anchor { position: fixed; width: 1px; height: 1px; pointer-events: none; }
@media (max-width: 1150px) { .poise-facts { display: none; } }
@media (max-width: 1020px) {
  .poise-title { display: none; }
  .poise-stop .block { display: none; }
  .q-header { padding: 0 6px !important; }
}
@media (max-width: 900px) {
  .q-header .q-toggle__label { display: none; }
  .q-header .q-select { min-width: 4.6rem !important; max-width: 5.4rem; }
}
"""
