import { unwatchFile, watchFile } from 'node:fs';

/** How often the files are looked at. A file that is replaced through a link is noticed, too. */
const CHECK_INTERVAL_MS = 10_000;

export interface CertificateReloadOptions {
  /** The files of the certificate. */
  readonly files: readonly string[];
  /** Reads the files and lets new connections use them. Throws, without a change, when they cannot be used. */
  readonly apply: () => void;
  readonly onReload: () => void;
  readonly onError: (error: unknown) => void;
}

/**
 * Applies renewed certificate files: when one changes, and when asked to. While the files do not fit together, as between the writes
 * of a renewal, the present certificate stays in use.
 */
export class CertificateReload {
  readonly #onChange = (): void => this.reload();

  constructor(private readonly options: CertificateReloadOptions) {
    for (const file of options.files) {
      watchFile(file, { interval: CHECK_INTERVAL_MS, persistent: false }, this.#onChange);
    }
  }

  /** Never throws. */
  reload(): void {
    try {
      this.options.apply();
    } catch (error) {
      this.options.onError(error);
      return;
    }
    this.options.onReload();
  }

  stop(): void {
    for (const file of this.options.files) unwatchFile(file, this.#onChange);
  }
}
