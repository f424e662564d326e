import type { MigrationInterface, QueryRunner } from 'typeorm';

const CARDS = [
  // The card of a session: it has the session's id, so a session has one at most. `waiter` is the process that holds the
  // request back until it is known whether the card arrives; `settled_as` is what that request was answered. An errand is
  // something that is still to be told to the platform.
  `CREATE TABLE cards (
    id uuid PRIMARY KEY,
    account_id uuid NOT NULL,
    brand_id uuid NOT NULL,
    waiter uuid NOT NULL,
    agent_id text NOT NULL,
    phone text NOT NULL,
    brand_name text NOT NULL,
    logo_url text,
    number_matching boolean NOT NULL,
    message_id uuid NOT NULL,
    state text NOT NULL DEFAULT 'offered'
      CHECK (state IN ('offered', 'sending', 'sent', 'refused', 'unknown', 'withdrawn')),
    refusal text,
    created_at timestamptz(3) NOT NULL,
    expires_at timestamptz(3) NOT NULL,
    sent_at timestamptz(3),
    delivered_at timestamptz(3),
    read_at timestamptz(3),
    tapped_at timestamptz(3),
    settled_at timestamptz(3),
    settled_as text CHECK (settled_as IN ('rcs', 'sms_fallback')),
    errand text CHECK (errand IN ('revoke', 'close_approved', 'close_denied')),
    errand_due_at timestamptz(3),
    errand_tries smallint NOT NULL DEFAULT 0,
    CHECK ((settled_at IS NULL) = (settled_as IS NULL)),
    CHECK ((errand IS NULL) = (errand_due_at IS NULL))
  ) PARTITION BY RANGE (id)`,
  `CREATE INDEX cards_message ON cards (message_id)`,
  `CREATE INDEX cards_errands ON cards (errand_due_at) WHERE errand IS NOT NULL`,
  // What the platform told, without anything that a person wrote. The id begins with the time of the event and ends with a
  // digest of its name, so that an event that comes again is the same row.
  `CREATE TABLE card_events (
    id uuid PRIMARY KEY,
    kind text NOT NULL,
    agent_id text NOT NULL,
    phone text,
    message_id uuid,
    card_id uuid,
    choice text,
    launch_state text,
    occurred_at timestamptz(3) NOT NULL,
    received_at timestamptz(3) NOT NULL,
    handled_at timestamptz(3),
    outcome text
  ) PARTITION BY RANGE (id)`,
  `CREATE INDEX card_events_unhandled ON card_events (id) WHERE handled_at IS NULL`,
  // Against push-bombing: the latest cards of a phone, by their ids, and when it denied.
  `CREATE TABLE card_phones (
    phone text PRIMARY KEY,
    recent uuid[] NOT NULL DEFAULT '{}',
    denials timestamptz(3)[] NOT NULL DEFAULT '{}',
    changed_at timestamptz(3) NOT NULL
  )`,
  `CREATE INDEX card_phones_changed ON card_phones (changed_at)`,
  // What one agent knows of one phone.
  `CREATE TABLE card_recipients (
    agent_id text NOT NULL,
    phone text NOT NULL,
    unreachable_at timestamptz(3),
    prefers_sms_at timestamptz(3),
    PRIMARY KEY (agent_id, phone)
  )`,
  `CREATE INDEX card_recipients_unreachable ON card_recipients (unreachable_at) WHERE prefers_sms_at IS NULL`,
  // What the platform last said of an agent as a whole.
  `CREATE TABLE card_agents (
    agent_id text PRIMARY KEY,
    launch_state text NOT NULL,
    suspended boolean NOT NULL,
    changed_at timestamptz(3) NOT NULL
  )`,
  // Engineers may hold cards back: sessions fall back to SMS meanwhile.
  `INSERT INTO queue_switches (name) VALUES ('cards')`,
];

const TABLES = ['card_agents', 'card_recipients', 'card_phones', 'card_events', 'cards'];

/** Cards over RCS: what is offered, sent, told and answered. */
export class Cards1700000000004 implements MigrationInterface {
  readonly name = 'Cards1700000000004';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of CARDS) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DELETE FROM queue_switches WHERE name = 'cards'`);
    for (const table of TABLES) await runner.query(`DROP TABLE ${table}`);
  }
}
