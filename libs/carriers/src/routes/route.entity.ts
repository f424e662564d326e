import type { Uuid } from '@countersign/ids';
import { CreatedAtColumn, EntityTable } from '@countersign/postgres';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { SubmitOptions } from '../submit-options/index.js';

/** The bind or system for codes to numbers with a prefix, and its price (contract, Admin). */
@Entity('routes')
export class RouteEntity {
  @PrimaryColumn('uuid') readonly id!: Uuid;

  /** A plus sign and digits; the plus sign alone for every number. */
  @Column('text') readonly prefix!: string;

  /** Null for a route to a system. */
  @Column('uuid', { nullable: true }) readonly bindId!: Uuid | null;

  /** The system over whose connections codes are sent; null for a route to a bind. */
  @Column('uuid', { nullable: true }) readonly systemId!: Uuid | null;

  /** Lower is tried first. */
  @Column('integer', { default: 0 }) readonly priority!: number;

  /** Share of the traffic among routes of one prefix and priority. */
  @Column('integer', { default: 1 }) readonly weight!: number;

  /** Our cost of one message: a decimal number in US dollars. */
  @Column('numeric', { precision: 14, scale: 6, default: 0 }) readonly costUsd!: string;

  /** Replaces the message's own sender; null keeps it. */
  @Column('text', { nullable: true }) readonly sourceAddress!: string | null;

  /** Each key replaces that of the bind. */
  @Column('jsonb', { default: {} }) readonly submitOptions!: SubmitOptions;

  @Column('boolean', { default: true }) readonly enabled!: boolean;

  @CreatedAtColumn() readonly createdAt!: Date;
}

export type Route = Omit<RouteEntity, 'createdAt'>;

export const ROUTES = new EntityTable<RouteEntity, Route>(RouteEntity);
