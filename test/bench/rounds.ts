import type { Subject } from './processes.js';
import { type Measure, type Row, summarise, summary } from './report.js';

export interface Contender {
  readonly subject: Subject;
  /** One measured run; the contender chooses `seconds` or a message count. */
  run(): Promise<Measure>;
}

/**
 * Baselines and product alternate, round after round, so that a slow minute of the machine affects all of them. Returns
 * a row for each, in their order.
 */
export async function alternate<const Contenders extends readonly Contender[]>(
  section: string,
  rounds: number,
  contenders: Contenders,
): Promise<{ -readonly [At in keyof Contenders]: Row }> {
  const measures = contenders.map((): Measure[] => []);
  for (let round = 1; round <= rounds; round += 1) {
    for (const [index, contender] of contenders.entries()) {
      const measure = await contender.run();
      measures[index]?.push(measure);
      process.stderr.write(`${section} ${round}/${rounds} ${contender.subject.name}: ${summary(measure)}\n`);
    }
  }
  const rows = contenders.map(({ subject }, index) =>
    summarise(section, subject.name, measures[index] ?? [], subject.rssMiB()),
  );
  return rows as { -readonly [At in keyof Contenders]: Row };
}
