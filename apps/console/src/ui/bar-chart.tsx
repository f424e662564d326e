import type { JSX } from 'react';
import './bar-chart.css';

export interface Series {
  readonly name: string;
  readonly tone: 'accent' | 'good' | 'bad' | 'warn' | 'quiet';
}

export interface Bar {
  /** Below the bar, such as a day. */
  readonly label: string;
  /** One value for each series. */
  readonly values: readonly number[];
}

interface BarChartProps {
  /** For screen readers: what is shown, with its sums. */
  readonly label: string;
  readonly series: readonly Series[];
  readonly bars: readonly Bar[];
  readonly format?: (value: number) => string;
}

const sumOf = ({ values }: Bar): number => values.reduce((sum, each) => sum + each, 0);

/** The steps of an axis below ten are even, so that its middle is a whole number of sessions. */
const SMALL_STEPS = [2, 4, 6, 10] as const;
const STEPS = [1, 2, 5, 10] as const;

/** The next round number: a step with zeros, so that the axis is easy to read. */
function axisMax(highest: number): number {
  if (highest <= 0) return 2;
  const unit = 10 ** Math.floor(Math.log10(highest));
  return ((unit === 1 ? SMALL_STEPS : STEPS).find((step) => step * unit >= highest) ?? 10) * unit;
}

/** Stacked bars. The numbers are for a table beside it: a chart is a picture. */
export function BarChart({ label, series, bars, format = String }: BarChartProps): JSX.Element {
  const max = axisMax(Math.max(0, ...bars.map(sumOf)));
  return (
    <figure className="chart" role="img" aria-label={label}>
      <div className="chart-plot">
        <span className="chart-line">{format(max)}</span>
        <span className="chart-line">{format(max / 2)}</span>
        <span className="chart-line">0</span>
        <div className="chart-bars">
          {bars.map((bar) => (
            <div className="chart-bar" key={bar.label} title={titleOf(bar, series, format)}>
              {bar.values.map((value, index) =>
                value === 0 ? null : (
                  <span
                    key={series[index]?.name}
                    data-tone={series[index]?.tone}
                    style={{ blockSize: `${String((value / max) * 100)}%` }}
                  />
                ),
              )}
            </div>
          ))}
        </div>
      </div>
      <div className="chart-ends" aria-hidden="true">
        <span>{bars[0]?.label}</span>
        <span>{bars.at(-1)?.label}</span>
      </div>
      {series.length > 1 && (
        <ul className="chart-legend" aria-hidden="true">
          {series.map(({ name, tone }) => (
            <li key={name} data-tone={tone}>
              {name}
            </li>
          ))}
        </ul>
      )}
    </figure>
  );
}

const titleOf = (bar: Bar, series: readonly Series[], format: (value: number) => string): string =>
  [bar.label, ...bar.values.map((value, index) => `${series[index]?.name ?? ''} ${format(value)}`)].join('\n');
