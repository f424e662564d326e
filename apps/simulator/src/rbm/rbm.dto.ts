import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsString,
  IsUrl,
  Matches,
  Max,
  MaxLength,
  Min,
  ValidateIf,
} from 'class-validator';
import { LAUNCH_STATES, type LaunchState, LONE_USER_EVENTS, type LoneUserEvent } from './rbm-event.js';

const LONGEST_WAIT_MS = 600_000;
const LONGEST_TOKEN_SECONDS = 3_600;
const MOST_SUGGESTIONS = 15;
const MOST_FEATURES = 50;
const MOST_AGENTS = 1_000;
const TEXT_CHARACTERS = 3_072;
const NAME_CHARACTERS = 200;
const STATUS = { lowest: 400, highest: 599 } as const;
const PHONE = /^\+[1-9][0-9]{1,14}$/;

/** An omitted field is unchanged; unlike IsOptional, null is a value. */
const LeftOut = (): PropertyDecorator => ValidateIf((_, value: unknown) => value !== undefined);
const OrNull = (): PropertyDecorator => ValidateIf((_, value: unknown) => value !== undefined && value !== null);

function Switch(): PropertyDecorator {
  return (prototype, property) => {
    for (const decorate of [LeftOut(), IsBoolean()]) decorate(prototype, property);
  };
}

function Wait(): PropertyDecorator {
  return (prototype, property) => {
    for (const decorate of [LeftOut(), IsInt(), Min(0), Max(LONGEST_WAIT_MS)]) decorate(prototype, property);
  };
}

function StatusOrNull(): PropertyDecorator {
  return (prototype, property) => {
    for (const decorate of [OrNull(), IsInt(), Min(STATUS.lowest), Max(STATUS.highest)]) decorate(prototype, property);
  };
}

/** Body of `PUT /_admin/phones/{e164}`. */
export class SetPhone {
  @Switch()
  readonly reachable?: boolean;

  @Switch()
  readonly online?: boolean;

  @Wait()
  readonly deliverAfterMs?: number;

  @OrNull()
  @IsIn(['approve', 'deny'])
  readonly autoTap?: 'approve' | 'deny' | null;

  @Wait()
  readonly tapAfterMs?: number;

  @Switch()
  readonly deliverAnyway?: boolean;

  @LeftOut()
  @IsArray()
  @ArrayMaxSize(MOST_FEATURES)
  @IsString({ each: true })
  readonly features?: string[];
}

/** Body of `POST /_admin/cards/{messageId}/tap`. */
export class Tap {
  @IsInt()
  @Min(0)
  @Max(MOST_SUGGESTIONS)
  readonly suggestion!: number;
}

/** Body of `POST /_admin/replies`. */
export class Reply {
  @Matches(PHONE)
  readonly phone!: string;

  @IsString()
  @MaxLength(NAME_CHARACTERS)
  readonly agentId!: string;

  @IsString()
  @MaxLength(TEXT_CHARACTERS)
  readonly text!: string;
}

/** Body of `POST /_admin/rbm/events`. */
export class LoneEvent {
  @IsString()
  @MaxLength(NAME_CHARACTERS)
  readonly agentId!: string;

  @LeftOut()
  @Matches(PHONE)
  readonly phone?: string;

  @IsIn([...LONE_USER_EVENTS, ...LAUNCH_STATES])
  readonly type!: LoneUserEvent | LaunchState;
}

/** Body of `PUT /_admin/rbm`: omitted switches are unchanged. */
export class SetRbm {
  @Switch()
  readonly duplicate?: boolean;

  @Switch()
  readonly reorder?: boolean;

  @Switch()
  readonly dropDelivered?: boolean;

  @Switch()
  readonly corruptSignature?: boolean;

  @Switch()
  readonly wrongAgent?: boolean;

  @Switch()
  readonly omitSendTime?: boolean;

  @Switch()
  readonly omitType?: boolean;

  @LeftOut()
  @IsIn(['always200', 'strict'])
  readonly revokeMode?: 'always200' | 'strict';

  @LeftOut()
  @IsIn([200, 409])
  readonly duplicateIdStatus?: 200 | 409;

  @OrNull()
  @IsArray()
  @ArrayMaxSize(MOST_AGENTS)
  @IsString({ each: true })
  readonly agents?: string[] | null;

  @StatusOrNull()
  readonly sendStatus?: number | null;

  @Wait()
  readonly sendDelayMs?: number;

  @Switch()
  readonly muteSend?: boolean;

  @StatusOrNull()
  readonly tokenStatus?: number | null;

  @LeftOut()
  @IsInt()
  @Min(1)
  @Max(LONGEST_TOKEN_SECONDS)
  readonly tokenSeconds?: number;

  /** An action, not a state: true revokes the tokens that were issued. */
  @Switch()
  readonly dropTokens?: boolean;

  @LeftOut()
  @IsIn(['strict', 'lenient'])
  readonly handshake?: 'strict' | 'lenient';

  @OrNull()
  @IsUrl({ protocols: ['http', 'https'], require_tld: false, require_protocol: true })
  readonly webhookUrl?: string | null;

  @LeftOut()
  @IsInt()
  @Min(1)
  @Max(LONGEST_WAIT_MS)
  readonly retryAfterMs?: number;
}
