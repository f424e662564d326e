import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const LIBRARIES = '/usr/lib';
const NAME = 'faketime/libfaketimeMT.so.1';

/** The file of Debian's libfaketime; null where it is not installed (`apt-get install libfaketime`). */
export function faketimeLibrary(): string | null {
  if (!existsSync(LIBRARIES)) return null;
  const files = readdirSync(LIBRARIES).map((architecture) => path.join(LIBRARIES, architecture, NAME));
  return files.find((file) => existsSync(file)) ?? null;
}

/** The wall clock of one process, which a test can step. Its monotonic clock goes on as before. */
export class SteppedClock {
  constructor(
    private readonly library: string,
    private readonly file: string,
  ) {
    this.step(0);
  }

  /** The variables with which the process starts. */
  get environment(): Readonly<Record<string, string>> {
    return {
      LD_PRELOAD: this.library,
      FAKETIME_TIMESTAMP_FILE: this.file,
      FAKETIME_CACHE_DURATION: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      // A killed process would leave its shared memory.
      FAKETIME_DISABLE_SHM: '1',
    };
  }

  /** Sets the clock so many seconds fast, or slow if negative, from the next second on. */
  step(seconds: number): void {
    writeFileSync(this.file, `${seconds < 0 ? '' : '+'}${seconds}\n`);
  }
}
