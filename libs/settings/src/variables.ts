import { DATABASE_URL_FORM, REDIS_URL_FORM } from '@countersign/store-urls';
import {
  IsArray,
  IsBoolean,
  IsIn,
  IsInstance,
  IsInt,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
  MinLength,
} from 'class-validator';
import {
  readBaseUrl,
  readCidrs,
  readEntropyKeys,
  readFilePath,
  readFlag,
  readHost,
  readHosts,
  readDatabaseUrl,
  readMasterKeys,
  readRedis,
  readServiceUrl,
  readText,
  readUrl,
  readWholeNumber,
} from './readings.js';
import { fromVariable, type Reading, type Variable } from './variable.js';

const LOWEST_PORT = 1;
const HIGHEST_PORT = 65_535;
/** PostgreSQL, NAMEDATALEN. */
const LONGEST_ROLE = 63;

// One decorator per kind of value, with its reader, its class-validator constraints, and its description for errors.

function shown(name: string, allowed: string, read: (text: string) => Reading): Variable {
  return { name, allowed, secret: false, read };
}

function hidden(name: string, allowed: string, read: (text: string) => Reading): Variable {
  return { name, allowed, secret: true, read };
}

export function WholeNumber(name: string, lowest: number, highest: number): PropertyDecorator {
  return fromVariable(
    shown(name, `a whole number from ${lowest} to ${highest}`, readWholeNumber),
    IsInt(),
    Min(lowest, { message: `is below ${lowest}` }),
    Max(highest, { message: `is above ${highest}` }),
  );
}

export function Port(name: string): PropertyDecorator {
  return WholeNumber(name, LOWEST_PORT, HIGHEST_PORT);
}

export function Flag(name: string): PropertyDecorator {
  return fromVariable(shown(name, 'true or false', readFlag), IsBoolean());
}

const RUNS = ['production', 'development', 'test'];

/** Whether this run is in production; not set means development. */
export function Production(name: string): PropertyDecorator {
  const read = (text: string): Reading =>
    RUNS.includes(text) ? { value: text === 'production' } : { fault: 'is none of these' };
  return fromVariable(shown(name, RUNS.join(', '), read), IsBoolean());
}

/** Whether NODE_ENV names development; not set is not enough. */
export function Development(name: string): PropertyDecorator {
  const read = (text: string): Reading => ({ value: text === 'development' });
  return fromVariable(shown(name, RUNS.join(', '), read), IsBoolean());
}

export function OneOf(name: string, values: readonly string[]): PropertyDecorator {
  return fromVariable(shown(name, values.join(', '), readText), IsIn(values, { message: 'is none of these' }));
}

export function Host(name: string): PropertyDecorator {
  return fromVariable(shown(name, 'an IP address or a host name', readHost), IsString());
}

/** As the driver of PostgreSQL reads it: any text, of which one that begins with a slash is the directory of a socket. */
export function DatabaseHost(name: string): PropertyDecorator {
  return fromVariable(shown(name, 'a host name, an address or the directory of a socket', readText), IsString());
}

export function Cidrs(name: string): PropertyDecorator {
  const allowed = 'address ranges such as 10.0.0.0/8, separated by commas';
  return fromVariable(shown(name, allowed, readCidrs), IsArray());
}

export function Hosts(name: string): PropertyDecorator {
  return fromVariable(shown(name, 'host names and addresses, separated by commas', readHosts), IsArray());
}

export function BaseUrl(name: string): PropertyDecorator {
  const allowed = 'an https URL without user, query or fragment';
  return fromVariable(shown(name, allowed, readBaseUrl), IsString());
}

/** A service that is called with credentials: `readServiceUrl`. A user in the URL is a fault, and is not shown. */
export function ServiceUrl(name: string): PropertyDecorator {
  const allowed = 'an https URL, or an http URL on loopback, without user, query or fragment';
  return fromVariable(hidden(name, allowed, readServiceUrl), IsString());
}

export function FilePath(name: string): PropertyDecorator {
  return fromVariable(shown(name, 'the path of a readable file', readFilePath), IsString());
}

/** A URL that may contain a password, and is therefore never shown. */
export function ConnectionUrl(name: string, protocols: readonly string[]): PropertyDecorator {
  const allowed = `a URL that begins with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`;
  return fromVariable(
    hidden(name, allowed, (text) => readUrl(text, protocols)),
    IsString(),
  );
}

export function DatabaseUrl(name: string): PropertyDecorator {
  return fromVariable(hidden(name, DATABASE_URL_FORM, readDatabaseUrl), IsString());
}

export function RedisUrl(name: string): PropertyDecorator {
  return fromVariable(hidden(name, REDIS_URL_FORM, readRedis), IsString());
}

export function MasterKeys(name: string): PropertyDecorator {
  const allowed =
    '32 bytes in standard base64, as "openssl rand -base64 32" makes them, or <version>:<base64 of 32 bytes>, the ' +
    'current version first, more versions from 1 to 255 after a comma';
  return fromVariable(hidden(name, allowed, readMasterKeys), IsInstance(Map));
}

export function EntropyKeys(name: string): PropertyDecorator {
  const allowed = '<version>:<base64 of 32 to 64 bytes>, more versions after a comma';
  return fromVariable(hidden(name, allowed, readEntropyKeys), IsInstance(Map));
}

export function AdminKey(name: string): PropertyDecorator {
  return fromVariable(
    hidden(name, 'csk_admin_ and 38 letters and digits', readText),
    Matches(/^csk_admin_[0-9A-Za-z]{38}$/, { message: 'is no admin key' }),
  );
}

/** The name of a PostgreSQL role, without quotes. */
export function Role(name: string): PropertyDecorator {
  return fromVariable(
    shown(name, 'the name of a PostgreSQL role, of 1 to 63 characters', readText),
    MaxLength(LONGEST_ROLE, { message: `is longer than ${LONGEST_ROLE} characters` }),
  );
}

/** A variable of another program, of which only some values matter. */
export function Text(name: string): PropertyDecorator {
  return fromVariable(shown(name, 'any value', readText), IsString());
}

/** Whether a variable has a value, whatever it is. */
export function Given(name: string): PropertyDecorator {
  return fromVariable(
    shown(name, 'any value', () => ({ value: true })),
    IsBoolean(),
  );
}

/** A word that two parties share. */
export function Secret(name: string, shortest: number, longest: number): PropertyDecorator {
  return fromVariable(
    hidden(name, `${shortest} to ${longest} printable ASCII characters`, readText),
    MinLength(shortest, { message: `is shorter than ${shortest} characters` }),
    MaxLength(longest, { message: `is longer than ${longest} characters` }),
    Matches(/^[\x21-\x7e]+$/, { message: 'has a character that is not printable ASCII' }),
  );
}

/** An SMPP credential: ASCII, and no longer than its field without the final NUL (SMPP 3.4, 5.2.1 and 5.2.2). */
export function SmppCredential(name: string, longest: number): PropertyDecorator {
  return fromVariable(
    hidden(name, `1 to ${longest} printable ASCII characters`, readText),
    MaxLength(longest, { message: `is longer than ${longest} characters` }),
    Matches(/^[\x21-\x7e]+$/, { message: 'has a character that is not printable ASCII' }),
  );
}
