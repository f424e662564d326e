import { readFileSync } from 'node:fs';
import { describeFilePath } from './file-path.js';
import type { SettingFault } from './settings-error.js';
import type { Variable } from './variable.js';

/** `X_FILE` names a file that holds the value of the secret `X`. */
export const FILE_SUFFIX = '_FILE';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The environment with secrets read from their files, without the last newline, under the secret's own name. Giving a
 * secret both ways is a fault, and so is a file that cannot be read or is empty. A fault shows the value of `X_FILE`
 * only if it can only be a path.
 */
export function withSecretFiles(
  variables: Iterable<Variable>,
  environment: Environment,
): { readonly environment: Environment; readonly faults: readonly SettingFault[] } {
  const filled: Record<string, string | undefined> = { ...environment };
  const faults: SettingFault[] = [];
  for (const { name, secret } of variables) {
    const fileName = name + FILE_SUFFIX;
    const file = secret ? environment[fileName] : undefined;
    if (file === undefined || file === '') continue;
    if (environment[name] !== undefined && environment[name] !== '') {
      faults.push({ variable: name, fault: `is set, and so is ${fileName}`, allowed: 'one of the two' });
      continue;
    }
    const text = contentOf(file);
    if (text === null || text === '') {
      const fault = text === null ? 'is no file that this process can read' : 'is an empty file';
      const allowed = `the path of a file with the value of ${name}`;
      faults.push({ variable: fileName, fault: `${describeFilePath(file)} ${fault}`, allowed });
    } else filled[name] = text;
  }
  return { environment: filled, faults };
}

function contentOf(file: string): string | null {
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch {
    return null;
  }
}
