import 'reflect-metadata';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  Body,
  Controller,
  HttpCode,
  Inject,
  Module,
  type NestApplicationOptions,
  Post,
  ValidationPipe,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { IsBoolean, IsIn, IsInt, IsObject, IsOptional, IsString, IsUrl, Matches, Max, Min } from 'class-validator';
import { Column, CreateDateColumn, DataSource, Entity, PrimaryGeneratedColumn, type Repository } from 'typeorm';

/**
 * A comparison for create: the service as the guides of NestJS and TypeORM show it. One POST is validated by a DTO and
 * saved by a repository, which is one transaction with one row; no key is checked, nothing is limited or sent.
 */
const environment = (name: string): string => {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set`);
  return value;
};

/** As large as the product's pool. */
const POOL_MAX = 10;
const SESSIONS = Symbol('sessions');

@Entity('plain_nest_sessions')
class Session {
  @PrimaryGeneratedColumn('uuid') id!: string;
  @Column('text') accountId!: string;
  @Column('text') brandId!: string;
  @Column('text') phone!: string;
  @Column('text') status!: string;
  @Column('text') channel!: string;
  @Column('text', { unique: true }) token!: string;
  @Column('text') clientChallenge!: string;
  @Column('text', { nullable: true }) webhookUrl!: string | null;
  @Column('boolean') allowSmsOtp!: boolean;
  @Column('jsonb') metadata!: Record<string, string>;
  @CreateDateColumn({ type: 'timestamptz' }) createdAt!: Date;
  @Column('timestamptz') expiresAt!: Date;
}

class CreateSession {
  @Matches(/^\+[1-9][0-9]{1,14}$/) phone!: string;
  @IsString() accountId!: string;
  @IsString() brandId!: string;
  @Matches(/^[0-9a-fA-F]{64}$/) clientChallenge!: string;
  @IsOptional() @IsUrl({ protocols: ['https'] }) webhookUrl?: string;
  @IsInt() @Min(30) @Max(300) ttl: number = 90;
  @IsIn(['rcs', 'sms_fallback']) channel: string = 'rcs';
  @IsBoolean() allowSmsOtp: boolean = true;
  @IsOptional() @IsObject() metadata?: Record<string, string>;
}

@Controller('v1/verify')
class VerifyController {
  constructor(@Inject(SESSIONS) private readonly sessions: Repository<Session>) {}

  @Post()
  @HttpCode(200)
  async create(@Body() body: CreateSession): Promise<object> {
    const {
      ttl,
      webhookUrl = null,
      metadata = {},
      phone,
      accountId,
      brandId,
      clientChallenge,
      channel,
      allowSmsOtp,
    } = body;
    const token = `AUTH-${randomBytes(10).toString('hex').toUpperCase()}`;
    const expiresAt = new Date(Date.now() + ttl * 1_000);
    const session = await this.sessions.save(
      this.sessions.create({
        ...{ phone, accountId, brandId, clientChallenge, channel, allowSmsOtp, webhookUrl, metadata },
        ...{ token, expiresAt, status: 'pending' },
      }),
    );
    const uri = `sms:+14155550199?body=${encodeURIComponent(`${token}\nSend this message to sign in to Acme.`)}`;
    return { session, fallback: { uri, token } };
  }
}

const sessions = {
  provide: SESSIONS,
  useFactory: async (): Promise<Repository<Session>> => {
    const source = new DataSource({
      type: 'postgres',
      url: environment('DATABASE_URL'),
      entities: [Session],
      synchronize: true,
      poolSize: POOL_MAX,
    });
    await source.initialize();
    return source.getRepository(Session);
  },
};

@Module({ controllers: [VerifyController], providers: [sessions] })
class AppModule {}

// eslint-disable-next-line @typescript-eslint/no-unsafe-class-instance-assignment -- Nest declares its options as classes
const OPTIONS: NestApplicationOptions = { logger: ['warn', 'error'] };
const https = {
  cert: readFileSync(environment('TLS_CERT_FILE')),
  key: readFileSync(environment('TLS_KEY_FILE')),
  minVersion: 'TLSv1.3',
} as const;
const app = await NestFactory.create<NestFastifyApplication>(AppModule, new FastifyAdapter({ https }), OPTIONS);
app.useGlobalPipes(new ValidationPipe({ whitelist: true, transform: true }));
await app.listen(Number(environment('PORT')), '127.0.0.1');
process.once('disconnect', () => process.exit(0));
process.once('SIGTERM', () => process.exit(0));
