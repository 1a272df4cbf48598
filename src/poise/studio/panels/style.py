"""The style sheet of the page."""

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
.poise-view { position: absolute; touch-action: none; outline: none; }
.poise-view-framed { box-shadow: inset 0 0 0 1px rgba(128, 128, 128, 0.35); }
.poise-view > span {
  position: absolute; left: 10px; top: 6px; font-size: 12px; opacity: 0.65; pointer-events: none; user-select: none;
}
.poise-status { height: 36px; padding: 0 14px; gap: 10px; border-bottom: 1px solid rgba(128, 128, 128, 0.25); }
.poise-readiness { flex: none; white-space: nowrap; }
.poise-readiness .q-linear-progress { width: 150px; }
.poise-light { flex: none; width: 14px; height: 14px; border-radius: 50%; background: #9e9e9e; }
.poise-light[data-light=green] { background: #2e9e4f; }
.poise-light[data-light=orange] { background: #f28c1e; }
.poise-light[data-light=red] { background: #d9263e; }
.poise-task { padding: 4px 6px; border: 1px solid rgba(128, 128, 128, 0.25); border-radius: 6px; cursor: grab; }
.poise-panel .q-scrollarea__content { width: 100% !important; max-width: 100%; padding: 0 14px 12px 12px !important; }
.poise-field { width: 56px; }
.poise-field .q-field__control, .poise-field .q-field__native { height: 34px; min-height: 34px; font-size: 13px; }
.poise-drop { width: 100%; text-align: center; padding: 6px; border: 1px dashed #8888; border-radius: 6px; }
.poise-code { font-family: ui-monospace, monospace; font-size: 13px; }
.poise-slider .q-slider__thumb, .poise-slider .q-slider__selection { transition: none !important; }
.poise-number { font-variant-numeric: tabular-nums; }
.poise-tabs .q-tab { padding: 0 4px; min-width: 0; min-height: 36px; }
.poise-panels, .poise-panels .q-tab-panel { padding: 0 !important; }
.poise-menu { max-height: 80vh !important; }
.poise-side { height: calc(100vh - 92px); }
.poise-side .q-scrollarea__content { width: 100% !important; max-width: 100%; padding: 4px 14px 14px 12px !important; }
.poise-side-short { height: calc(100vh - 300px); }
.poise-side .poise-field { flex: 1 1 0; width: auto; min-width: 0; }
.poise-chips .q-chip { margin: 1px; font-size: 11px; }
.poise-anchor { position: fixed; width: 1px; height: 1px; pointer-events: none; }
@media (max-width: 1150px) { .poise-facts { display: none; } }
"""
