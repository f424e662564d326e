import type { Subject } from './processes.js';
import { type Measure, type Row, summarise } from './report.js';

export interface Contender {
  readonly subject: Subject;
  /** One measured run; `seconds` or a message count is the contender's own business. */
  run(): Promise<Measure>;
}

/** Baselines and product take turns, round after round, so that a slow minute of the machine hits them all. */
export async function alternate(section: string, rounds: number, contenders: readonly Contender[]): Promise<Row[]> {
  const measures = contenders.map((): Measure[] => []);
  for (let round = 1; round <= rounds; round += 1) {
    for (const [index, contender] of contenders.entries()) {
      const measure = await contender.run();
      measures[index]?.push(measure);
      process.stderr.write(
        `${section} ${round}/${rounds} ${contender.subject.name}: ${Math.round(measure.perSecond)}/s, p99 ${measure.p99Ms} ms\n`,
      );
    }
  }
  return contenders.map(({ subject }, index) =>
    summarise(section, subject.name, measures[index] ?? [], subject.rssMiB()),
  );
}
