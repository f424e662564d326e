import { validateSync } from 'class-validator';
import { describeFilePath } from './file-path.js';
import { misnamed, withoutServices } from './known-names.js';
import { FILE_SUFFIX, withSecretFiles } from './secret-files.js';
import { SettingsError, type SettingFault } from './settings-error.js';
import { listVariables, type Variable } from './variable.js';
import { describeWrongValue } from './wrong-value.js';

interface Contradictory {
  contradictions(): SettingFault[];
}

/**
 * The settings of one app, read once from the environment, validated and frozen. An empty variable counts as not set.
 * Secrets may be given as files (`X_FILE`); variables that Kubernetes injects for services are ignored. Throws a
 * SettingsError that names all faults. The only reader of `process.env`.
 */
export function loadSettings<Settings extends object>(
  settingsClass: new () => Settings,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Readonly<Settings> {
  const settings = new settingsClass();
  const variables = listVariables(settings);
  const own = withoutServices(environment);
  const { environment: filled, faults: ofFiles } = withSecretFiles(variables.values(), own);
  const faultOfFile = new Set(ofFiles.map(({ variable }) => variable));
  const ofValues = [...fill(settings, variables, filled), ...validate(settings, variables, filled)];
  const faults = [
    ...misnamed(own),
    ...ofFiles,
    // A secret whose file has a fault is not reported as missing too.
    ...ofValues.filter(({ variable }) => !faultOfFile.has(variable) && !faultOfFile.has(variable + FILE_SUFFIX)),
  ];
  // Combinations are checked only when each variable is valid.
  const all = faults.length === 0 && hasContradictions(settings) ? settings.contradictions() : faults;
  if (all.length > 0) throw new SettingsError(all);
  return Object.freeze(settings);
}

/**
 * Sets the values that could be read. A property with an unreadable value is set to null, so that it is not also
 * reported as missing.
 */
function fill(
  settings: object,
  variables: ReadonlyMap<string, Variable>,
  environment: Readonly<Record<string, string | undefined>>,
): SettingFault[] {
  const faults: SettingFault[] = [];
  for (const [property, variable] of variables) {
    const text = environment[variable.name];
    if (text === undefined || text === '') continue;
    const reading = variable.read(text);
    Reflect.set(settings, property, 'fault' in reading ? null : reading.value);
    if ('fault' in reading) faults.push(faultOf(variable, text, reading.fault));
  }
  return faults;
}

function validate(
  settings: object,
  variables: ReadonlyMap<string, Variable>,
  environment: Readonly<Record<string, string | undefined>>,
): SettingFault[] {
  return validateSync(settings, { stopAtFirstError: true }).flatMap(({ property, constraints }) => {
    const variable = variables.get(property);
    if (variable === undefined) return [];
    const [message = 'is not right'] = Object.values(constraints ?? {});
    return [faultOf(variable, environment[variable.name], message)];
  });
}

function faultOf(variable: Variable, text: string | undefined, fault: string): SettingFault {
  return { variable: variable.name, fault: describe(variable, text, fault), allowed: variable.allowed };
}

function describe(variable: Variable, text: string | undefined, fault: string): string {
  if (text === undefined || text === '') return 'is not set';
  if (variable.secret) return `has a value (not shown) that ${fault}`;
  if (variable.name.endsWith(FILE_SUFFIX)) return `${describeFilePath(text)} ${fault}`;
  return `is ${describeWrongValue(text)}, which ${fault}`;
}

function hasContradictions(settings: object): settings is Contradictory {
  return 'contradictions' in settings && typeof settings.contradictions === 'function';
}
