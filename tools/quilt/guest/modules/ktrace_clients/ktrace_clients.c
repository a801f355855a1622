// SPDX-License-Identifier: GPL-2.0
/*
 * ktrace events for the scenario clients. A number that is written to the parameter
 * "emit" makes so many records of each of them, with a sequence number from "next"
 * on, in the context of the writing task.
 *
 * The values go round through special ones: the ends of each type, -1, 0, strings
 * that are cut, empty or NULL.
 *
 * All fields of client_ints, client_strings and client_pointers are printed as
 * "name=value" in a plain way, so that a program that knows no more than the
 * fields can print the same text. client_formats and client_stars are for those
 * who have a formatter. They have no %c, which libtraceevent 1.7.1 does not know,
 * and nothing that a negative width would pad.
 *
 * Each time there are two debug messages as well, one of a device. With the flag
 * T of dynamic debug they are records of dyndbg_message.
 */

#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/ktrace.h>
#include <linux/limits.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <net/net_namespace.h>

struct client_bits {
	unsigned int	three : 3;
	int		four : 4;
};

static const u64 client_values[] = {
	0, 1, 127, 128, 255, 32767, 32768, 65535, S32_MAX, 1ULL + S32_MAX,
	U32_MAX, S64_MAX, 1ULL + S64_MAX, U64_MAX, 0x0123456789abcdefULL,
};

static const char *const client_names[] = {
	"a", "", "two words", "name=value", "tab\tin it", "100%d", NULL,
	"\\back\\slash\"quote'", "(null)", "trailing ",
};

/* Not terminated: never printed without a precision. */
static const char client_array[8] = { 'e', 'i', 'g', 'h', 't', '*', '*', '*' };

static const u8 client_bytes[16] = {
	0x20, 0x01, 0x0d, 0xb8, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0xff, 0xfe, 0x7f, 0x80, 0x01,
};

static DEFINE_MUTEX(client_mutex);
static char client_long[300];
static unsigned int next = 1;

static void client_record(unsigned int seq)
{
	u64 val = client_values[seq % ARRAY_SIZE(client_values)];
	const char *name = client_names[seq % ARRAY_SIZE(client_names)];
	struct client_bits bits = { .three = seq & 7, .four = (seq & 15) - 8 };
	const char *pre = client_long + sizeof(client_long) - 1 - seq % 300;
	const void *ptr = seq % 4 ? (void *)(long)val : &client_mutex;
	u8 mac[6] = { seq, seq >> 8, 0, 0xff, 0x80, 0x7f };
	u8 ip[4] = { 192, 0, 2, seq };
	int width = seq & 1 ? 9 : -1;
	int prec = seq & 2 ? 3 : -1;

	ktrace(client_ints,
	       "seq=%u s8=%hhd u8=%hhu s16=%hd u16=%hu s32=%d u32=%u s64=%lld u64=%llu long=%ld ulong=%lu bool=%d three=%u four=%d",
	       seq, (s8)val, (u8)val, (s16)val, (u16)val, (s32)val, (u32)val,
	       (s64)val, val, (long)val, (unsigned long)val, !!val, bits.three,
	       bits.four);
	ktrace(client_strings,
	       "seq=%u name=%s long=%s short=%.4s comm=%s last=%s",
	       seq, name, pre, pre, current->comm, name);
	ktrace(client_pointers, "seq=%u ptr=%p func=%ps null=%p", seq, ptr,
	       seq & 1 ? (void *)schedule : (void *)kfree, NULL);
	ktrace(client_formats,
	       "seq=%u hex=%#x wide=%016llx left=%-6d| right=%+7hhd octal=%o eight=%.8s mac=%pM ip4=%pI4 ip6=%pI6c uuid=%pU bytes=%*ph packed=%4phN",
	       seq, (u32)val, val, (s16)val, (s8)val, (u16)val, client_array,
	       mac, ip, client_bytes, client_bytes, (int)(seq % 8 + 1),
	       client_bytes, client_bytes + 11);
	ktrace(client_stars,
	       "seq=%u wide=%*d digits=%.*d cut=%.*s name=%*s both=%*.*s", seq,
	       width, (s16)val, prec, (s16)val, prec, pre, width, current->comm,
	       width, 3, current->comm);
	pr_debug("seq=%u name=%s long=%s\n", seq, name, pre);
	netdev_dbg(init_net.loopback_dev, "seq=%u u64=%llu\n", seq, val);
}

static int client_emit(const char *text, const struct kernel_param *kp)
{
	unsigned int nr;
	int ret;

	ret = kstrtouint(text, 0, &nr);
	if (ret)
		return ret;

	guard(mutex)(&client_mutex);

	while (nr--)
		client_record(next++);

	return 0;
}

static const struct kernel_param_ops client_ops = {
	.set = client_emit,
};

module_param_cb(emit, &client_ops, NULL, 0200);
module_param(next, uint, 0600);

static int __init client_init(void)
{
	for (int i = 0; i < sizeof(client_long) - 1; i++)
		client_long[i] = 'a' + i % 26;

	return 0;
}
module_init(client_init);

static void __exit client_exit(void)
{
}
module_exit(client_exit);

MODULE_DESCRIPTION("ktrace events for tools to read");
MODULE_LICENSE("GPL");
