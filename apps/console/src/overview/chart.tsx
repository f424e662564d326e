import 'uplot/dist/uPlot.min.css';
import { type JSX, useEffect, useRef } from 'react';
import uPlot from 'uplot';
import { localTime } from '../ui/times.js';

export interface Series {
  readonly name: string;
  /** A custom property of the theme, such as `--accent`. */
  readonly color: string;
  readonly values: readonly (number | null)[];
  readonly isDashed?: boolean;
}

interface ChartProps {
  readonly label: string;
  /** Seconds since 1970, ascending. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
}

const HEIGHT_PX = 240;
/** The canvas takes no colours of custom properties by itself. */
const colorOf = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** `light-dark()` is resolved by the browser where it is a colour of an element. */
function resolved(element: HTMLElement, name: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${name})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color === '' ? colorOf(name) : color;
}

function optionsOf(element: HTMLElement, series: readonly Series[]): uPlot.Options {
  const line = resolved(element, '--line');
  const axis = {
    stroke: resolved(element, '--ink-soft'),
    font: '12px system-ui, sans-serif',
    grid: { stroke: line, width: 1 },
    ticks: { stroke: line, width: 1 },
  };
  return {
    width: element.clientWidth,
    height: HEIGHT_PX,
    // The last label of the axis is centred on the right edge.
    padding: [12, 30, 0, 0],
    cursor: { y: false, points: { size: 7 } },
    legend: { show: false },
    scales: { y: { range: (_plot, _least, most) => [0, Math.max(1, most * 1.1)] } },
    axes: [
      { ...axis, size: 42 },
      { ...axis, size: 46, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 50_000, 100_000] },
    ],
    series: [
      {},
      ...series.map(({ name, color, isDashed = false }, index) => ({
        label: name,
        stroke: resolved(element, color),
        width: isDashed ? 1.5 : 2.25,
        ...(isDashed ? { dash: [4, 4] } : {}),
        ...(index === 0 ? { fill: resolved(element, color).replace(/^rgb\((.*)\)$/, 'rgba($1, 0.08)') } : {}),
        points: { show: false },
      })),
    ],
  };
}

/** Lines over time. Drawn again with another width or theme. Its figures must stand beside it in words. */
export default function Chart({ label, times, series }: ChartProps): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const readout = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    let plot: uPlot | null = null;
    const draw = (): void => {
      plot?.destroy();
      if (element.clientWidth === 0) return;
      const options = optionsOf(element, series);
      const onCursor = (shown: uPlot): void => {
        if (readout.current !== null) readout.current.textContent = textAt(times, series, shown.cursor.idx);
      };
      plot = new uPlot({ ...options, hooks: { setCursor: [onCursor] } }, dataOf(times, series), element);
    };
    draw();
    const sizes = new ResizeObserver(draw);
    sizes.observe(element);
    const themes = new MutationObserver(draw);
    themes.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    const system = matchMedia('(prefers-color-scheme: dark)');
    system.addEventListener('change', draw);
    return () => {
      sizes.disconnect();
      themes.disconnect();
      system.removeEventListener('change', draw);
      plot?.destroy();
    };
  }, [series, times]);
  return (
    <figure className="chart">
      <figcaption className="chart-key">
        {series.map(({ name, color, isDashed = false }) => (
          <span key={name}>
            <i style={{ borderColor: `var(${color})`, borderStyle: isDashed ? 'dashed' : 'solid' }} />
            {name}
          </span>
        ))}
      </figcaption>
      <div ref={place} className="chart-place" role="img" aria-label={label} />
      <p ref={readout} className="chart-readout soft small" aria-hidden="true" />
    </figure>
  );
}

const dataOf = (times: readonly number[], series: readonly Series[]): uPlot.AlignedData => [
  [...times],
  ...series.map(({ values }) => [...values]),
];

/** The values under the pointer. */
function textAt(times: readonly number[], series: readonly Series[], index: number | null | undefined): string {
  const time = typeof index === 'number' ? times[index] : undefined;
  if (typeof index !== 'number' || time === undefined) return '';
  const values = series.map(({ name, values: all }) => `${name} ${(all[index] ?? 0).toLocaleString('en')}`);
  return `${localTime(new Date(time * 1_000).toISOString())}: ${values.join(' · ')}`;
}
