import { AccountEntity, ApiKeyEntity, BrandEntity } from '@countersign/accounts';
import { BindEntity, CarrierStore, InboundNumberEntity, MessageEntity, SmppSystemEntity } from '@countersign/carriers';
import { SessionEntity } from '@countersign/session';
import type { EntityMetadata } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSessionRoom, type SessionRoom } from '../support/session-room.js';

const ENTITIES = [
  AccountEntity,
  ApiKeyEntity,
  BindEntity,
  BrandEntity,
  InboundNumberEntity,
  MessageEntity,
  SessionEntity,
  SmppSystemEntity,
];

let room: SessionRoom;

beforeAll(async () => {
  room = await openSessionRoom({ entities: ENTITIES });
});
afterAll(() => room.close());

interface ColumnShape {
  readonly name: string;
  readonly type: string;
  readonly nullable: boolean;
  readonly hasDefault: boolean;
  readonly primary: boolean;
  readonly unique: boolean;
}

const migrated = (table: string): Promise<ColumnShape[]> =>
  room.database.query<ColumnShape>(
    `SELECT attname AS name, format_type(atttypid, atttypmod) AS type, NOT attnotnull AS nullable,
       atthasdef AS "hasDefault", constrained.kinds @> '{p}' AS primary, constrained.kinds @> '{u}' AS unique
     FROM pg_attribute
     CROSS JOIN LATERAL (SELECT coalesce(array_agg(contype::text), '{}') AS kinds FROM pg_constraint
       WHERE conrelid = attrelid AND conkey = ARRAY[attnum] AND contype IN ('p', 'u')) AS constrained
     WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attname`,
    [table],
  );

function described(entity: EntityMetadata): ColumnShape[] {
  const { driver } = room.database.dataSource;
  const unique = new Set(entity.uniques.filter(({ columns }) => columns.length === 1).map(({ columns }) => columns[0]));
  return entity.columns
    .map((column) => {
      const bare = driver.normalizeType(column);
      const precise = column.precision == null ? bare : bare.replace('timestamp', `timestamp(${column.precision})`);
      return {
        name: column.databaseName,
        type: column.isArray ? `${precise}[]` : precise,
        nullable: column.isNullable,
        hasDefault: column.default !== undefined,
        primary: column.isPrimary,
        unique: unique.has(column),
      };
    })
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

describe('the entities', () => {
  it.each(ENTITIES.map((entity) => [entity.name, entity] as const))(
    '%s describes its migrated table, column for column',
    async (_, entity) => {
      const metadata = room.database.dataSource.getMetadata(entity);
      expect(described(metadata)).toEqual(await migrated(metadata.tableName));
    },
  );

  it('read what the stores have written', async () => {
    const { database, account, brand, sessions } = room;
    const repository = database.dataSource.manager;
    const session = await sessions.create(room.draft({ metadata: [['order', '42']] }));
    const carriers = new CarrierStore({ keys: room.keys, newId: () => room.clock.newId() });
    const bind = await carriers.createBind(database, {
      name: 'b',
      carrier: 'c',
      hosts: [{ host: 'h', port: 1 }],
      systemId: 's',
      password: 'p',
    });
    const { createdAt, expiresAt, phone, clientChallenge } = session;
    expect(await repository.findOneByOrFail(SessionEntity, { id: session.id })).toMatchObject({
      ...{ createdAt, expiresAt, phone, clientChallenge },
      status: 'pending',
      metadata: { order: '42' },
      endedAt: null,
      approvedBy: null,
    });
    expect(await repository.findOneByOrFail(AccountEntity, { id: account.id })).toMatchObject(account);
    expect(await repository.findOneByOrFail(BrandEntity, { id: brand.id })).toMatchObject(brand);
    const { passwordSealed: _passwordSealed, ...wanted } = bind;
    expect(await repository.findOneByOrFail(BindEntity, { id: bind.id })).toMatchObject(wanted);
  });

  it('do not read secrets unless they are asked for', async () => {
    const account = await room.database.dataSource.manager.findOneByOrFail(AccountEntity, { id: room.account.id });
    expect(Object.keys(account)).not.toContain('webhookSecretSealed');
  });
});
