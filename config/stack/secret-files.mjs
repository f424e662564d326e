// Secrets from files: X_FILE names the file with the value of X.
import { readFileSync } from 'node:fs';
import { StartError } from './progress.mjs';

const SECRETS = [
  'DATABASE_URL',
  'DATABASE_MIGRATION_URL',
  'REDIS_URL',
  'COUNTERSIGN_MASTER_KEY',
  'COUNTERSIGN_ENTROPY_KEYS',
  'COUNTERSIGN_ADMIN_KEY',
  'RBM_CLIENT_TOKEN',
  'WEBHOOK_EGRESS_PROXY',
];

const LONGEST_SHOWN_PATH = 255;
// As libs/settings/src/file-path.ts, which is not compiled yet at this point.
const PATH = /^\.{0,2}\/(?!\/)[A-Za-z0-9._/+-]*$/;
const BASE64 = /^(?=.*(?:[a-z][^/]*[A-Z]|[A-Z][^/]*[a-z]))[A-Za-z0-9_/+-]{20,}$/;

/**
 * The environment with these secrets under their own names, so that this run generates only the missing secrets.
 *
 * @param {Record<string, string | undefined>} env
 * @returns {Record<string, string | undefined>}
 */
export function withSecretFiles(env) {
  const filled = { ...env };
  for (const name of SECRETS) {
    const file = env[`${name}_FILE`];
    if (!file) continue;
    if (env[name]) throw new StartError(`${name} is set, and so is ${name}_FILE: set one of the two`);
    filled[name] = contentOf(`${name}_FILE`, file);
    delete filled[`${name}_FILE`];
  }
  return filled;
}

function contentOf(variable, file) {
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    const name = variable.replace(/_FILE$/, '');
    throw new StartError(
      `${variable}: cannot read ${shownPath(file)} (${error.code}). Allowed: the path of a file with the value of ${name}`,
    );
  }
}

/**
 * Users sometimes put the secret where the file's name belongs: the value is shown only if it can be nothing but a
 * path.
 */
function shownPath(text) {
  const isShown = text.length <= LONGEST_SHOWN_PATH && PATH.test(text) && !BASE64.test(text);
  return isShown ? text : 'its value (not shown: it may be the secret itself)';
}
