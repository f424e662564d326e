// A vitest reporter that counts: every test, every file or group that could not be set up, every error outside a test.
import { writeFileSync } from 'node:fs';
import path from 'node:path';

/**
 * The environment carries the output file's name, because vitest gives no options to a reporter on its command line.
 */
export const REPORT_VARIABLE = 'COUNTERSIGN_TEST_REPORT';

/**
 * @typedef {{ file: string, name: string, isTest?: boolean, note?: string }} ReportedTest
 * @typedef {{ passed: number, failed: ReportedTest[], skipped: ReportedTest[] }} TestCount
 */

export default class CountReporter {
  onTestRunEnd(modules, unhandledErrors) {
    const report = process.env[REPORT_VARIABLE];
    if (report !== undefined) writeFileSync(report, JSON.stringify(countOf(modules, unhandledErrors)));
  }
}

/** @returns {TestCount} */
function countOf(modules, unhandledErrors) {
  const tests = modules.flatMap((module) => [...module.children.allTests()]);
  const groups = modules.flatMap((module) => [module, ...module.children.allSuites()]);
  const inState = (state) => tests.filter((test) => test.result().state === state);
  const broken = groups.filter((group) => group.errors().length > 0);
  return {
    passed: inState('passed').length,
    failed: [
      ...inState('failed').map((test) => reportOf(test, test.result().errors)),
      ...broken.map((group) => reportOf(group, group.errors())),
      ...unhandledErrors.map((error) => ({ file: 'outside any test', name: error.name, note: error.message })),
    ],
    skipped: inState('skipped').map((test) => ({ ...reportOf(test, []), note: test.result().note })),
  };
}

/** A test, a group or a file, with the first line of its error. */
function reportOf(entity, [error]) {
  const file = path.relative(process.cwd(), (entity.module ?? entity).moduleId);
  return {
    file,
    name: entity.fullName ?? 'the whole file',
    isTest: entity.type === 'test',
    note: error?.message.split('\n')[0],
  };
}
