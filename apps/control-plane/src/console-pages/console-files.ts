import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { KeptDocument } from '@countersign/http';

/** A file of the built console. */
export interface ConsoleFile {
  readonly type: string;
  readonly document: KeptDocument;
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** `dist/console`, from `dist/apps/control-plane/src/console-pages` and from the sources. */
const FOLDERS = ['../../../../console/', '../../../../dist/console/'];
/** Vite writes it; the sources of the console have none. */
const MANIFEST = 'manifest.json';

function folder(): string | null {
  const found = FOLDERS.map((each) => new URL(each, import.meta.url).pathname);
  return found.find((each) => existsSync(path.join(each, MANIFEST))) ?? null;
}

/** The built console in memory: its page, and its assets by file name. Requests read no file system. */
export class ConsoleFiles {
  private constructor(
    /** Null when the console was not built. */
    readonly page: ConsoleFile | null,
    private readonly assets: ReadonlyMap<string, ConsoleFile>,
  ) {}

  static read(root: string | null = folder()): ConsoleFiles {
    if (root === null) return new ConsoleFiles(null, new Map());
    const names = readdirSync(path.join(root, 'assets'));
    const assets = names.flatMap((name) => {
      const file = fileOf(path.join(root, 'assets', name));
      return file === null ? [] : [[name, file] as const];
    });
    return new ConsoleFiles(fileOf(path.join(root, 'index.html')), new Map(assets));
  }

  asset(name: string): ConsoleFile | null {
    return this.assets.get(name) ?? null;
  }
}

function fileOf(file: string): ConsoleFile | null {
  const type = TYPES[path.extname(file)];
  return type === undefined ? null : { type, document: new KeptDocument(readFileSync(file, 'utf8')) };
}
