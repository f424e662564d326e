import { CPU_FIGURES, type CpuPerOperation, perOperation } from '../cpu/use.js';
import { type Measure, table } from '../report.js';
import { median, type Spread, spreadOf } from '../statistics.js';

/** Results of both builds, one after the other. */
export interface Pair {
  readonly base: Measure;
  readonly compared: Measure;
}

export interface FigureRow {
  readonly section: string;
  readonly figure: string;
  /** Medians over the pairs. */
  readonly base: number;
  readonly compared: number;
  /** Of the working tree's figure divided by the commit's, pair by pair. */
  readonly ratio: Spread;
}

type Figures = ReadonlyMap<string, number>;

const CPU_UNIT = 'CPU µs/op, ';

/** Measured figures: a figure of 0 was not measured. */
function figuresOf(measure: Measure): Figures {
  const cpu: CpuPerOperation = measure.cpu === undefined ? {} : perOperation(measure.cpu);
  const all: (readonly [string, number])[] = [
    ...CPU_FIGURES.map((figure) => [CPU_UNIT + figure, cpu[figure] ?? 0] as const),
    ['allocated bytes/op', measure.allocatedBytes ?? 0],
    ['pages read/op', measure.pages ?? 0],
    ['per second', measure.perSecond],
    ['p50 ms', measure.p50Ms],
    ['p99 ms', measure.p99Ms],
  ];
  return new Map(all.filter(([, value]) => value > 0));
}

/** A row for each figure that both builds have in every pair. */
export function compare(section: string, pairs: readonly Pair[]): FigureRow[] {
  const measured = pairs.map(({ base, compared }) => ({ base: figuresOf(base), compared: figuresOf(compared) }));
  const names = [...(measured[0]?.base.keys() ?? [])];
  return names.flatMap((figure) => {
    const values = measured.flatMap(({ base, compared }) => {
      const [one, other] = [base.get(figure), compared.get(figure)];
      return one === undefined || other === undefined ? [] : [{ one, other }];
    });
    if (values.length < pairs.length) return [];
    return [
      {
        section,
        figure,
        base: median(values.map(({ one }) => one)),
        compared: median(values.map(({ other }) => other)),
        ratio: spreadOf(values.map(({ one, other }) => other / one)),
      },
    ];
  });
}

const figureText = (value: number): string => value.toFixed(value < 100 ? 2 : value < 1_000 ? 1 : 0);
const ratioText = (value: number): string => value.toFixed(3);

export function renderComparison(
  names: { readonly base: string; readonly compared: string },
  rows: readonly FigureRow[],
) {
  return table(
    ['section', 'figure', names.base, names.compared, 'ratio', 'quartiles', '95 % interval'],
    rows.map(({ section, figure, base, compared, ratio }) => [
      section,
      figure,
      figureText(base),
      figureText(compared),
      ratioText(ratio.median),
      `${ratioText(ratio.lowerQuartile)}–${ratioText(ratio.upperQuartile)}`,
      ratio.interval === null ? '-' : `${ratioText(ratio.interval.low)}–${ratioText(ratio.interval.high)}`,
    ]),
  );
}
