import { Controller, Get } from '@nestjs/common';

@Controller('healthz')
export class HealthController {
  @Get()
  show(): { status: 'ok' } {
    return { status: 'ok' };
  }
}
