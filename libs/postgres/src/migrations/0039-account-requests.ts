import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The log of requests that an account reads: without bodies, with phones masked. An id has the time of its request. */
export class AccountRequests1700000000039 implements MigrationInterface {
  readonly name = 'AccountRequests1700000000039';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE account_requests (
        id uuid PRIMARY KEY,
        account_id uuid NOT NULL,
        test boolean NOT NULL,
        key_id uuid NOT NULL,
        at timestamptz(3) NOT NULL,
        method text NOT NULL,
        path text NOT NULL,
        status smallint NOT NULL,
        code text,
        latency_ms integer NOT NULL
      )`);
    await runner.query('CREATE INDEX account_requests_page ON account_requests (account_id, test, id)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE account_requests');
  }
}
