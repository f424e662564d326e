import { IsIn, IsOptional, IsString, Matches, MaxLength } from 'class-validator';

/** Body of `POST /demo/api/logins`. */
export class StartLogin {
  /** As typed by the person. */
  @IsString()
  @MaxLength(64)
  readonly phone!: string;

  /** SHA-256 of the browser's secret. */
  @Matches(/^[0-9a-f]{64}$/)
  readonly challenge!: string;

  @IsOptional()
  @IsIn(['sms_fallback'])
  readonly channel?: 'sms_fallback';
}

/** Body of `POST /demo/api/logins/{id}/check`. */
export class CheckCode {
  @Matches(/^\d{6}$/)
  readonly code!: string;
}

/** Body of `POST /demo/api/logins/{id}/enter`. */
export class Enter {
  @Matches(/^[0-9a-f]{64}$/)
  readonly secret!: string;
}
