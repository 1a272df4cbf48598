"""The style sheet of the modes."""

STRIP_HEIGHT = 176
"""Height of the strip below the viewport [pixels]."""

MODE_STYLE = f"""
.poise-center {{ display: flex; width: 100%; position: relative; }}
.poise-hint {{
  position: absolute; right: 0; left: 0; bottom: 12px; width: fit-content; max-width: 92%; margin: auto;
  padding: 3px 14px; border-radius: 14px; background: rgba(255, 255, 255, 0.82); color: #333; font-size: 13px;
  text-align: center; pointer-events: none;
}}
.body--dark .poise-hint {{ background: rgba(20, 22, 26, 0.78); color: #ddd; }}
.poise-hint-first, .poise-hint-second {{ animation: poise-fade-first 9s ease-in forwards; }}
.poise-hint-second {{ animation-name: poise-fade-second; }}
@keyframes poise-fade-first {{ 0%, 85% {{ opacity: 1; }} 100% {{ opacity: 0; }} }}
@keyframes poise-fade-second {{ 0%, 85% {{ opacity: 1; }} 100% {{ opacity: 0; }} }}
.poise-hint:empty, body[data-mode=circles] .poise-hint {{ display: none; }}
.poise-center > .poise-viewport {{ flex: 1 1 0; min-width: 0; }}
.poise-circles {{ display: none; flex: 1.3 1 0; min-width: 0; height: calc(100vh - 88px); touch-action: none; }}
.poise-circles {{ border-right: 1px solid rgba(128, 128, 128, 0.25); }}
body[data-mode=circles] .poise-circles {{ display: block; }}
.poise-strip {{ display: none; width: 100%; height: {STRIP_HEIGHT}px; }}
.poise-strip {{ border-top: 1px solid rgba(128, 128, 128, 0.25); }}
body.poise-has-strip .poise-strip {{ display: flex; flex-direction: column; }}
body.poise-has-strip .poise-viewport {{ height: calc(100vh - {88 + STRIP_HEIGHT}px); }}
.poise-plots {{ display: flex; flex: 1 1 0; min-height: 0; width: 100%; }}
.poise-plot {{ flex: 1 1 0; min-width: 0; height: 100%; }}
.poise-names {{ display: flex; gap: 2px 12px; height: 20px; padding: 0 10px; overflow: hidden; flex-wrap: wrap; }}
.poise-names span {{ font-size: 11px; line-height: 18px; opacity: 0.85; white-space: nowrap; }}
.poise-names span::before {{
  content: ""; display: inline-block; width: 9px; height: 9px; margin-right: 4px; border-radius: 50%;
  background: var(--ink);
}}
.q-header .text-subtitle1 {{ white-space: nowrap; }}
@media (max-width: 1100px) {{ .q-header {{ gap: 3px !important; }} }}
.poise-modes {{ gap: 2px; flex-wrap: nowrap; }}
.poise-modes .q-btn {{ min-height: 30px; padding: 2px 8px; border-radius: 6px; font-size: 12px; text-transform: none; }}
.poise-modes .q-btn .q-icon {{ font-size: 18px; }}
.poise-modes .q-btn[data-on=true] {{ background: rgba(255, 255, 255, 0.2); }}
@media (max-width: 1360px) {{
  .poise-modes .q-btn .block {{ font-size: 0; }}
  .poise-modes .q-btn .q-icon {{ margin: 0; }}
}}
.poise-mode-panel {{ padding: 4px 0 16px 0; gap: 4px; width: 100%; }}
.poise-mode-panel .q-btn.poise-choice {{
  min-height: 26px; padding: 0 9px; font-size: 12px; text-transform: none; border-radius: 13px;
  border: 1px solid rgba(128, 128, 128, 0.5);
}}
.poise-mode-panel .q-btn.poise-choice[data-on=true] {{ background: #f28c1e; border-color: #f28c1e; color: #1c1c1c; }}
.poise-mode-panel .q-toggle__label {{ font-size: 13px; }}
.poise-pair {{ min-height: 28px; }}
.poise-pair .q-field__control, .poise-pair .q-field__native, .poise-pair .q-field__marginal {{
  min-height: 26px; height: 26px; font-size: 12px;
}}
.poise-timeline {{ display: none; align-items: center; gap: 10px; height: 30px; padding: 0 10px; font-size: 12px; }}
.poise-timeline input {{ flex: 1 1 0; accent-color: #f28c1e; }}
.poise-timeline button {{ width: 30px; cursor: pointer; background: none; border: 0; color: inherit; }}
.poise-timeline button i {{ font-size: 22px; line-height: 28px; }}
body[data-mode=retarget] .poise-timeline {{ display: flex; }}
.poise-facts {{ flex: none; white-space: nowrap; }}
.poise-dot {{ display: inline-block; width: 10px; height: 10px; border-radius: 50%; margin-right: 5px; }}
.poise-heading {{ font-size: 13px; font-weight: 600; margin-top: 8px; }}
.poise-figures {{ display: grid; grid-template-columns: auto auto; gap: 1px 10px; width: 100%; font-size: 13px; }}
.poise-line {{ font-size: 12px; opacity: 0.85; overflow-wrap: anywhere; }}
.poise-setting {{ display: grid; grid-template-columns: 98px 1fr 52px; align-items: center; gap: 8px; width: 100%; }}
.poise-setting > span {{ font-size: 12px; }}
"""
