/// The style of the document: A4 pages on paper and on a wide screen, one column on a narrow one.
pub const STYLE: &str = "@page { size: A4; margin: 0; }
* { box-sizing: border-box; }
body { margin: 0; color: #000; background: #fff; font-family: 'Liberation Sans', Arial, Helvetica, sans-serif; font-size: 10pt; line-height: 1.25; }
.hint { margin: 4mm 10mm; }
.hint h1 { font-size: 16pt; margin: 0 0 2mm; }
.page { width: 210mm; height: 296mm; overflow: hidden; break-after: page; }
.page:last-child { break-after: auto; }
.cards { display: grid; grid-template-columns: repeat(3, 63mm); grid-template-rows: repeat(3, 88mm); justify-content: center; align-content: center; }
.card { border: 0.2mm solid #999; padding: 3.5mm; display: flex; flex-direction: column; overflow: hidden; }
.card header, .card .write { border-bottom: 0.5mm solid #000; padding-bottom: 1mm; margin-bottom: 1.6mm; }
.card .write { height: 12mm; display: flex; align-items: flex-end; }
.card h2 { margin: 0; font-size: 13pt; line-height: 1.1; overflow-wrap: anywhere; }
.what, footer, .over { font-size: 7.5pt; }
.what { text-transform: uppercase; letter-spacing: 0.1em; }
.card dl { margin: 0 0 1.5mm; display: grid; grid-template-columns: auto 1fr; gap: 0 2.5mm; }
.card dt { font-style: italic; }
.card dd { margin: 0; font-weight: bold; overflow-wrap: anywhere; }
.card .text { margin: 0; flex: 1; overflow-wrap: anywhere; }
.card footer, .sheet footer { margin-top: 1mm; color: #444; }
.rest { display: none; }
.back { outline: 0.6mm solid #000; outline-offset: -2.6mm; padding: 5mm; }
.back.small { font-size: 8.5pt; }
.back .name { font-weight: bold; margin: 0 0 1.5mm; }
.back .game { margin: auto 0 0; text-align: center; font-size: 9pt; }
.lines { flex: 1; display: flex; flex-direction: column; justify-content: space-evenly; }
.lines i { display: block; border-bottom: 0.2mm solid #888; height: 0; }
.sheets { display: grid; gap: 4mm; justify-content: center; align-content: center; }
.quarter { grid-template-columns: 94mm 94mm; grid-template-rows: 138mm 138mm; }
.half { grid-template-columns: 192mm; grid-template-rows: 138mm 138mm; }
.whole { grid-template-columns: 192mm; grid-template-rows: 280mm; }
.sheet { border: 0.4mm solid #000; padding: 4.5mm; display: flex; flex-direction: column; overflow: hidden; }
.sheet h2 { margin: 0 0 2mm; font-size: 15pt; border-bottom: 0.5mm solid #000; }
.sheet .name { margin: 0 0 2mm; font-style: italic; height: 9mm; border-bottom: 0.5mm solid #000; }
.sheet table { border-collapse: collapse; width: 100%; }
.sheet footer { margin-top: auto; padding-top: 1mm; }
.sheet th, .sheet td { text-align: left; vertical-align: bottom; border-bottom: 0.2mm solid #888; padding: 0.5mm 0; }
.sheet th { font-weight: normal; font-style: italic; padding-right: 3mm; width: 36%; }
.sheet td { font-weight: bold; overflow-wrap: anywhere; }
.boxes { margin-left: 2mm; }
.box { display: inline-block; width: 3.6mm; height: 3.6mm; margin: 0.3mm 0.5mm; border: 0.3mm solid #000; vertical-align: -0.6mm; text-align: center; font: 9pt/3mm sans-serif; }
@media screen { body { background: #eee; } .page { background: #fff; margin: 6mm auto; box-shadow: 0 0 2mm #888; } .hint { text-align: center; } }
@media screen and (max-width: 215mm) {
  .page { width: auto; height: auto; margin: 3mm; padding: 3mm; overflow: visible; }
  .page.backs { display: none; }
  .cards, .quarter, .half, .whole { grid-template-columns: 1fr; grid-template-rows: none; gap: 3mm; }
  .card, .sheet { overflow: visible; }
  .blank { display: none; }
  .rest { display: inline; }
  .over { display: none; }
}
@media print { .hint { display: none; } }
";
