import { Transform } from 'class-transformer';
import { IsBoolean, IsIn, IsInt, IsOptional, IsString, Max, MaxLength, Min, ValidateIf } from 'class-validator';
import { RECEIPT_STATES, type ReceiptState } from './receipt.js';

const MOST_REFUSALS = 1_000_000;
/** More than fits in 255 parts. */
const TEXT_CHARACTERS = 50_000;
const ADDRESS_CHARACTERS = 21;

/** `true` requests one refusal. */
const Count = (): PropertyDecorator =>
  Transform(({ value }: { value: unknown }) => (value === true ? 1 : value === false ? 0 : value));

/** Body of `POST /_admin/sms`. */
export class SendSms {
  @IsString()
  @MaxLength(ADDRESS_CHARACTERS)
  readonly from!: string;

  @IsString()
  @MaxLength(ADDRESS_CHARACTERS)
  readonly to!: string;

  @IsString()
  @MaxLength(TEXT_CHARACTERS)
  readonly text!: string;
}

/** Body of `PUT /_admin/smsc`: omitted switches are unchanged. */
export class SetFaults {
  @IsOptional()
  @Count()
  @IsInt()
  @Min(0)
  @Max(MOST_REFUSALS)
  readonly throttleNext?: number;

  @IsOptional()
  @Count()
  @IsInt()
  @Min(0)
  @Max(MOST_REFUSALS)
  readonly queueFullNext?: number;

  @IsOptional()
  @IsBoolean()
  readonly muteSubmit?: boolean;

  @IsOptional()
  @IsBoolean()
  readonly muteEnquireLink?: boolean;

  /** An action, not a state: true closes the open links. */
  @IsOptional()
  @IsBoolean()
  readonly dropLink?: boolean;

  @IsOptional()
  @IsBoolean()
  readonly rejectBind?: boolean;

  @ValidateIf((_, value: unknown) => value !== null && value !== undefined)
  @IsIn(RECEIPT_STATES)
  readonly receipt?: ReceiptState | null;

  @IsOptional()
  @IsBoolean()
  readonly receiptBeforeResponse?: boolean;
}
