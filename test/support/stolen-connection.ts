import { Database, DataError } from '@countersign/postgres';

/** Connections with the credentials of a gateway, in the hands of an attacker. */
export const stolenConnection = (url: string): Promise<Database> =>
  Database.open({ url, poolMax: 2, applicationName: 'attack', onError: () => undefined });

/** The SQLSTATE of the refusal of a statement, or `done`. */
export async function refused(stolen: Database, statement: string, values: readonly unknown[] = []): Promise<string> {
  try {
    await stolen.query(statement, [...values]);
    return 'done';
  } catch (error) {
    return error instanceof DataError ? error.sqlState : String(error);
  }
}
