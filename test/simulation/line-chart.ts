/** A line of a chart: a value for each place of the horizontal axis. */
export interface Line {
  readonly name: string;
  readonly values: readonly number[];
  /** Of its strokes; none for a solid line. */
  readonly dashes?: string;
}

export interface LineChart {
  /** Read out instead of the picture. */
  readonly description: string;
  readonly lines: readonly Line[];
  /** A horizontal line with its name. */
  readonly limit: { readonly value: number; readonly name: string };
  readonly highest: number;
  /** Names of the places that have one. */
  readonly ticks: ReadonlyMap<number, string>;
  readonly formatValue: (value: number) => string;
}

const [WIDTH, HEIGHT] = [640, 300];
const [LEFT, RIGHT, TOP, BOTTOM] = [52, 190, 14, 30];
const GRID_LINES = 4;

const text = (x: number, y: number, words: string, anchor = 'start'): string =>
  `<text x="${x}" y="${y}" text-anchor="${anchor}" fill="currentColor" font-size="12">${words}</text>`;
const stroke = (from: string, to: string, dashes: string, opacity: number): string =>
  `<path d="M${from}L${to}" stroke="currentColor" stroke-opacity="${opacity}" stroke-dasharray="${dashes}" fill="none"/>`;
const tenth = (value: number): number => Math.round(value * 10) / 10;

/** An SVG of one colour, that of the text around it, without styles: the policy of the pages allows none. */
export function renderLineChart({ description, lines, limit, highest, ticks, formatValue }: LineChart): string {
  const places = Math.max(...lines.map(({ values }) => values.length));
  const x = (place: number): number => tenth(LEFT + (place / (places - 1)) * (WIDTH - LEFT - RIGHT));
  const y = (value: number): number => tenth(HEIGHT - BOTTOM - (value / highest) * (HEIGHT - TOP - BOTTOM));
  const end = WIDTH - RIGHT;
  const grid = Array.from({ length: GRID_LINES + 1 }, (_, at) => (highest / GRID_LINES) * at).flatMap((value) => [
    stroke(`${LEFT} ${y(value)}`, `${end} ${y(value)}`, 'none', 0.15),
    text(LEFT - 8, y(value) + 4, formatValue(value), 'end'),
  ]);
  const drawn = lines.flatMap(({ name, values, dashes = 'none' }) => {
    const points = values.map((value, place) => `${x(place)} ${y(value)}`).join('L');
    const last = values.at(-1) ?? 0;
    return [
      `<path d="M${points}" stroke="currentColor" stroke-width="2" stroke-dasharray="${dashes}" fill="none"/>`,
      text(end + 8, y(last) + 4, name),
    ];
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${description}">`,
    ...grid,
    stroke(`${LEFT} ${y(limit.value)}`, `${end} ${y(limit.value)}`, '2 4', 0.8),
    text(end + 8, y(limit.value) + 4, limit.name),
    ...[...ticks].map(([place, name]) => text(x(place), HEIGHT - 8, name, 'middle')),
    ...drawn,
    '</svg>\n',
  ].join('\n');
}
