// How pages look. Colours are those of Okabe and Ito, which colour-blind readers can tell apart; in the dark they are
// lighter.
#include "tools/dma/page/html.h"

namespace dma::page {

std::string_view style() {
  return R"(
:root{color-scheme:light dark;--back:#fff;--card:#fafafa;--text:#1d2127;--soft:#5b6470;--rule:#dfe3e8;--good:#00603f;--bad:#a33b00;
--black:#222;--orange:#c98500;--sky:#56b4e9;--green:#00835f;--yellow:#b5a900;--blue:#0072b2;--vermillion:#d55e00;--purple:#b2568a;--grey:#8a929c;--white:#fff}
@media screen and (prefers-color-scheme:dark){:root{--back:#14171b;--card:#1b1f25;--text:#e4e8ed;--soft:#9aa4b1;--rule:#323943;--good:#4fcf9f;--bad:#ff9a62;
--black:#e4e8ed;--orange:#f0b440;--sky:#3f8fc4;--green:#2fc295;--yellow:#f0e442;--blue:#58b6f0;--vermillion:#ff8340;--purple:#e493bd;--grey:#7d8894;--white:#14171b}}
*{box-sizing:border-box}
body{overflow-wrap:anywhere;font:15px/1.55 system-ui,sans-serif;max-width:1120px;margin:0 auto;padding:1.5em 1em 4em;background:var(--back);color:var(--text)}
h1,h2,h3{line-height:1.25}h1{font-size:1.7em;margin:.4em 0 .2em}h2{font-size:1.3em;margin:2.2em 0 .6em;padding-bottom:.25em;border-bottom:1px solid var(--rule)}
h3{font-size:1.05em;margin:1.6em 0 .4em}p{max-width:75ch}.soft{color:var(--soft)}.lead{font-size:1.15em;margin:.3em 0}
nav a{margin-right:1em}a{color:var(--blue)}code,pre{font:13px/1.5 ui-monospace,monospace}
pre{background:var(--card);border:1px solid var(--rule);border-radius:6px;padding:.7em 1em;white-space:pre-wrap;overflow-wrap:anywhere}
.wide{overflow-x:auto}table{border-collapse:collapse;font-size:14px;margin:.8em 0;font-variant-numeric:tabular-nums}
th,td{border-bottom:1px solid var(--rule);padding:4px 14px 4px 0;text-align:left;vertical-align:top;overflow-wrap:break-word}th{font-weight:600;color:var(--soft)}[data-at]{white-space:nowrap}
.yes{color:var(--good)}.no,.warning{color:var(--bad);font-weight:600}figcaption,caption{color:var(--soft);text-align:left;caption-side:top;font-size:13px}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,150px),1fr));gap:.7em;margin:1.1em 0}
.card{background:var(--card);border:1px solid var(--rule);border-radius:8px;padding:.6em .9em}.card b{display:block;font-size:1.45em;line-height:1.3;font-weight:600;font-variant-numeric:tabular-nums}
.key span{min-width:0}.card>span{color:var(--soft);font-size:13px}
.charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,330px),1fr));gap:1.4em 1.6em;margin:1em 0}.charts.two{grid-template-columns:repeat(auto-fill,minmax(min(100%,420px),1fr))}figure.half{max-width:520px}figcaption{margin-top:.35em}
figure{margin:0;min-width:0}figure svg{display:block;width:100%;max-width:100%;height:auto}figure.full{margin:1em 0;overflow-x:auto}
figure.drawn{margin:1.5em 0;overflow-x:auto}figure.drawn svg{width:auto;background:#fff}.drawn .edge{pointer-events:bounding-box}.drawn .edge:hover path{stroke-width:3}
.series{max-width:780px}.series svg.chart{font-size:7.5px}.series .line{stroke-width:1.2}
figure h4{margin:0 0 .1em;font-size:14px}
/* One size of letters on the page, though pictures are drawn larger and smaller than they are written. */
svg.chart{font:13.5px system-ui,sans-serif}.two svg.chart,.half svg.chart{font-size:10.5px}@media(max-width:600px){svg.chart,.two svg.chart,.half svg.chart{font-size:13px}}svg.chart text{fill:var(--soft)}svg.chart .name{fill:var(--text)}.axis{stroke:var(--grey);fill:none}.grid{stroke:var(--rule);fill:none}
.line{fill:none;stroke-width:2;stroke-linejoin:round}.dashed{stroke-dasharray:5 4}.dotted{stroke-dasharray:1 4}.whisker{stroke-width:1.2;opacity:.5}.area{opacity:.28;stroke:none}.dot{stroke:none;opacity:.72}.hit{fill:transparent;stroke:none}
.hit:hover{fill:var(--text);fill-opacity:.08}.dot:hover{opacity:1;stroke:var(--text);stroke-width:1.5}.box{fill:var(--card);stroke:var(--grey)}
.s-black{stroke:var(--black)}.s-orange{stroke:var(--orange)}.s-sky{stroke:var(--sky)}.s-green{stroke:var(--green)}.s-yellow{stroke:var(--yellow)}.s-blue{stroke:var(--blue)}.s-vermillion{stroke:var(--vermillion)}.s-purple{stroke:var(--purple)}.s-grey{stroke:var(--grey)}.s-white{stroke:var(--white)}
.f-black{fill:var(--black)}.f-orange{fill:var(--orange)}.f-sky{fill:var(--sky)}.f-green{fill:var(--green)}.f-yellow{fill:var(--yellow)}.f-blue{fill:var(--blue)}.f-vermillion{fill:var(--vermillion)}.f-purple{fill:var(--purple)}.f-grey{fill:var(--grey)}.f-white{fill:var(--white)}
.key{display:flex;flex-wrap:wrap;gap:.1em 1em;font-size:12.5px;color:var(--soft)}.key i{display:inline-block;width:14px;height:9px;margin-right:5px;border-radius:2px}
.b-black{background:var(--black)}.b-orange{background:var(--orange)}.b-sky{background:var(--sky)}.b-green{background:var(--green)}.b-yellow{background:var(--yellow)}.b-blue{background:var(--blue)}.b-vermillion{background:var(--vermillion)}.b-purple{background:var(--purple)}.b-grey{background:var(--grey)}
table.confusion td{text-align:right;padding:4px 10px;border:1px solid var(--rule)}table.confusion td:first-child{text-align:left;color:var(--soft)}table.confusion th{padding:4px 10px}
.share{background:color-mix(in srgb,var(--blue) calc(var(--part)*60%),transparent);display:block;margin:-4px -10px;padding:4px 10px}
details{margin:.8em 0}summary{cursor:pointer;color:var(--soft)}
#note{position:fixed;z-index:9;pointer-events:none;max-width:min(320px,90vw);background:var(--text);color:var(--back);font-size:12.5px;line-height:1.4;padding:5px 9px;border-radius:5px;white-space:pre-line;overflow-wrap:anywhere;display:none}
@media print{body{max-width:none;padding:0;font-size:11pt}nav,#note{display:none!important}figure,.card,table{break-inside:avoid}h2,h3{break-after:avoid}*{print-color-adjust:exact;-webkit-print-color-adjust:exact}
.charts,.charts.two{grid-template-columns:1fr 1fr}svg.chart,.two svg.chart,.half svg.chart{font-size:12px}}
)";
}

std::string_view own_script() {
  return R"(
(() => {
  const note = document.createElement('div');
  note.id = 'note';
  document.body.append(note);
  for (const title of document.querySelectorAll('svg title')) {
    const mark = title.parentNode;
    mark.dataset.note = title.textContent;
    mark.setAttribute('aria-label', title.textContent);
    title.remove();
  }
  const show = event => {
    const mark = event.target instanceof Element && event.target.closest('[data-note]');
    if (!mark) { note.style.display = 'none'; return; }
    note.textContent = mark.dataset.note;
    note.style.display = 'block';
    const { width, height } = note.getBoundingClientRect();
    note.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - width - 4)) + 'px';
    note.style.top = Math.max(4, event.clientY - height - 12) + 'px';
  };
  for (const kind of ['pointermove', 'pointerdown']) document.addEventListener(kind, show);
  addEventListener('scroll', () => { note.style.display = 'none'; }, { passive: true });
})();
)";
}

}  // namespace dma::page
