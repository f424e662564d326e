import { Column, PrimaryColumn, VirtualColumn } from 'typeorm';
import { describe, expect, it } from 'vitest';
import { columnsOf, CreatedAtColumn, recordsetOf, TimeColumn } from './entity-columns.js';

abstract class OwnedEntity {
  @PrimaryColumn('uuid') readonly id!: string;
  @Column('uuid') readonly ownerId!: string;
  @CreatedAtColumn() readonly createdAt!: Date;
}

class NoteEntity extends OwnedEntity {
  @Column('text', { array: true }) readonly tags!: string[];
  @Column('json') readonly facts!: object;
  @Column('bytea', { select: false }) readonly secretSealed!: Buffer;
  @TimeColumn({ name: 'from_at' }) readonly from!: Date;
  @VirtualColumn('integer', { query: (note) => `SELECT count(*) FROM replies WHERE note_id = ${note}.id` })
  readonly replies!: number;
}

describe('the select list of an entity', () => {
  it('has its columns and those of its base class under their property names, json as text', () => {
    expect(columnsOf(NoteEntity, { without: ['replies'] })).toBe(
      'id, owner_id AS "ownerId", tags, facts::text AS "facts", from_at AS "from"',
    );
  });

  it('has a column that is declared with `select: false` only on request', () => {
    expect(columnsOf(NoteEntity)).not.toContain('secret_sealed');
    expect(columnsOf(NoteEntity, { with: ['secretSealed'] })).toContain('secret_sealed AS "secretSealed"');
  });

  it('qualifies names with the table, in subqueries too', () => {
    const columns = columnsOf(NoteEntity, { table: 'notes' });
    expect(columns).toContain('notes.owner_id AS "ownerId"');
    expect(columns).toContain('(SELECT count(*) FROM replies WHERE note_id = notes.id) AS "replies"');
  });
});

describe('the recordset of an entity', () => {
  it('names the columns, their values and the types of the JSON fields in one order, without computed columns', () => {
    expect(recordsetOf(NoteEntity, { without: ['createdAt', 'from'] })).toEqual({
      columns: 'id, owner_id, tags, facts, secret_sealed',
      values: `"id", "ownerId", "tags", "facts"::json, decode("secretSealed", 'base64')`,
      types: '"id" uuid, "ownerId" uuid, "tags" text[], "facts" text, "secretSealed" text',
    });
  });
});
