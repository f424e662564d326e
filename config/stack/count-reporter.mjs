// A vitest reporter that counts: every test, every file or group that could not be set up, every error outside a test.
import { writeFileSync } from 'node:fs';
import path from 'node:path';

/** The file to write goes in by the environment, since vitest gives a reporter on its command line no options. */
export const REPORT_VARIABLE = 'COUNTERSIGN_TEST_REPORT';

/** @typedef {{ passed: number, failed: number, skipped: { file: string, name: string, note?: string }[] }} TestCount */

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
  const brokenGroups = groups.filter((group) => group.errors().length > 0);
  return {
    passed: inState('passed').length,
    failed: inState('failed').length + brokenGroups.length + unhandledErrors.length,
    skipped: inState('skipped').map((test) => ({
      file: path.relative(process.cwd(), test.module.moduleId),
      name: test.fullName,
      note: test.result().note,
    })),
  };
}
