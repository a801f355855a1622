/* SPDX-License-Identifier: GPL-2.0 */
#pragma once

struct osnoise_tool;

void stop_wait_init(struct osnoise_tool *tool);
void stop_wait(struct osnoise_tool *tool, int seconds);
void stop_wait_destroy(void);
