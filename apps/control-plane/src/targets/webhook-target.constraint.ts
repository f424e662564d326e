import { Injectable } from '@nestjs/common';
import { ValidatorConstraint, type ValidatorConstraintInterface } from 'class-validator';
import { TargetRules } from './target.js';

/** Validates a webhook URL without looking its name up (contract, Targets). */
@ValidatorConstraint({ name: 'isWebhookTarget' })
@Injectable()
export class IsWebhookTarget implements ValidatorConstraintInterface {
  constructor(private readonly rules: TargetRules) {}

  validate(value: unknown): boolean {
    return typeof value === 'string' && this.rules.check(value).ok;
  }
}
