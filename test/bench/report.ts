/** What one run of a load generator saw. */
export interface Measure {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly errors: number;
}

/** One subject over all rounds: medians, and its resident set at the end. */
export interface Row extends Measure {
  readonly section: string;
  readonly subject: string;
  readonly rssMiB: number;
}

/** A figure that means something on any machine, and what it reaches for. */
export interface Ratio {
  readonly section: string;
  readonly name: string;
  readonly value: number;
  readonly reachFor: string;
}

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
};

export function summarise(section: string, subject: string, measures: readonly Measure[], rssMiB: number): Row {
  return {
    section,
    subject,
    perSecond: Math.round(median(measures.map((measure) => measure.perSecond))),
    p50Ms: median(measures.map((measure) => measure.p50Ms)),
    p99Ms: median(measures.map((measure) => measure.p99Ms)),
    errors: measures.reduce((sum, measure) => sum + measure.errors, 0),
    rssMiB,
  };
}

export const ratioOf = (over: Row, under: Row): number => Math.round((over.perSecond / under.perSecond) * 100) / 100;

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = header.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ');
  return [line(header), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}

export function render(rows: readonly Row[], ratios: readonly Ratio[]): string {
  const measured = table(
    ['section', 'subject', 'per second', 'p50 ms', 'p99 ms', 'errors', 'RSS MiB'],
    rows.map((row) => [
      row.section,
      row.subject,
      String(row.perSecond),
      String(row.p50Ms),
      String(row.p99Ms),
      String(row.errors),
      String(row.rssMiB),
    ]),
  );
  const compared = table(
    ['section', 'ratio', 'measured', 'reach for'],
    ratios.map((ratio) => [ratio.section, ratio.name, String(ratio.value), ratio.reachFor]),
  );
  return `${measured}\n\n${compared}`;
}
